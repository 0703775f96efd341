// Apollo Client for the catalogue: a WebSocket for live queries, HTTP for other queries and mutations.
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from "@apollo/client";
import { SetContextLink } from "@apollo/client/link/context";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { connect, isLive } from "./live";

const url = `${import.meta.env.VITE_CATALOGUE_URL ?? "http://localhost:8080"}/graphql`;

let token = "";

// setToken sets the token of later requests, and connects the WebSocket again with it.
export function setToken(value: string) {
  token = value;
  socket.terminate();
}

const authorization = () => (token ? { Authorization: `Bearer ${token}` } : undefined);

// Browsers cannot set headers of a WebSocket, so the token is in its first message.
const socket = connect(url.replace(/^http/, "ws"), authorization);
socket.on("closed", (event) => {
  if ((event as CloseEvent).code === 4403) token = ""; // refused or expired; reading needs none
});

const authorise = new SetContextLink(({ headers }) => ({ headers: { ...headers, ...authorization() } }));

export const client = new ApolloClient({
  link: ApolloLink.split(
    ({ query }) => isLive(query),
    new GraphQLWsLink(socket),
    ApolloLink.from([authorise, new HttpLink({ uri: url })]),
  ),
  cache: new InMemoryCache(),
});
