// Apollo Client for the catalogue: HTTP for queries and mutations, a WebSocket for the subscription.
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from "@apollo/client";
import { SetContextLink } from "@apollo/client/link/context";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { relayStylePagination } from "@apollo/client/utilities";
import { OperationTypeNode } from "graphql";
import { createClient } from "graphql-ws";
import { defer, retry, tap, timer } from "rxjs";

const url = `${import.meta.env.VITE_CATALOGUE_URL ?? "http://localhost:8080"}/graphql`;

let token = "";
let position: string | undefined; // of the newest change in the cache

// setToken sets the token of later requests, and connects the WebSocket again with it.
export function setToken(value: string) {
  token = value;
  socket.terminate();
}

// Browsers cannot set headers of a WebSocket, so the token is in its first message.
const socket = createClient({
  url: url.replace(/^http/, "ws"),
  retryAttempts: 0, // resume connects again
  connectionParams: () => (token ? { Authorization: `Bearer ${token}` } : {}),
});

const authorise = new SetContextLink(({ headers }) => ({
  headers: token ? { ...headers, Authorization: `Bearer ${token}` } : headers,
}));

// The first response with a position is the list that the changes are joined to.
const remember = new ApolloLink((operation, forward) =>
  forward(operation).pipe(tap(({ extensions }) => { position ??= extensions?.position; })));

// resume follows the changes after a position. If the connection is lost it continues where it was, so it misses none.
const follow = new GraphQLWsLink(socket);
const resume = new ApolloLink((operation) =>
  defer(() => {
    operation.variables = { ...operation.variables, after: position };
    return follow.request(operation);
  }).pipe(
    tap(({ data }) => { position = data?.changes.position ?? position; }),
    retry({ delay: (_, attempt) => timer(Math.min(30_000, 250 * 2 ** attempt)), resetOnSuccess: true }),
  ));

export const client = new ApolloClient({
  link: ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    resume,
    ApolloLink.from([authorise, remember, new HttpLink({ uri: url })]),
  ),
  cache: new InMemoryCache({ typePolicies: { Query: { fields: { books: relayStylePagination() } } } }),
});
