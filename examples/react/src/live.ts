// Live queries by WebSocket, for every GraphQL client.
import { type DocumentNode, Kind } from "graphql";
import { type Client, type ClientOptions, createClient } from "graphql-ws";

// connect returns a client for an address such as ws://localhost:8080/graphql. It connects while there are live
// queries, again after a lost or silent connection, and sends an operation again that ends with a retryAfter.
export function connect(url: string, connectionParams?: ClientOptions["connectionParams"]): Client {
  let silence: ReturnType<typeof setTimeout> | undefined;
  const expect = () => {
    clearTimeout(silence);
    silence = setTimeout(() => socket.terminate(), 20_000); // the server pings every 15 s
  };
  const socket = createClient({
    url,
    connectionParams,
    lazyCloseTimeout: 1_000, // a list that replaces another keeps the connection
    retryAttempts: Infinity,
    shouldRetry: () => true,
    // Short, because users see an old list meanwhile; random, because all clients of a server lose it together.
    retryWait: (retries) => new Promise((done) => setTimeout(done, Math.min(2_000, 500 * 2 ** retries) * (1 + Math.random()) / 2)),
    on: { connecting: expect, message: expect, closed: () => clearTimeout(silence) },
  });
  const subscribe: Client["subscribe"] = (request, sink) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let end = () => {};
    const begin = () => {
      end = socket.subscribe(request, {
        next: (result) => sink.next(result as never),
        complete: () => sink.complete(),
        error: (reason) => {
          const seconds = Array.isArray(reason) && reason[0].extensions?.retryAfter;
          if (seconds) timer = setTimeout(begin, seconds * 1000);
          else sink.error(reason);
        },
      });
    };
    begin();
    return () => {
      clearTimeout(timer);
      end();
    };
  };
  return { ...socket, subscribe };
}

// isLive reports whether a document has a live query.
export const isLive = ({ definitions }: DocumentNode) => definitions.some((definition) =>
  definition.kind === Kind.OPERATION_DEFINITION && definition.directives?.some(({ name }) => name.value === "live"));
