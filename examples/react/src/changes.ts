import type { ApolloClient } from "@apollo/client";
import type { ChangesSubscription } from "./graphql/graphql";
import { LIST, ROW } from "./operations";

// apply brings the cache up to date with a change.
export function apply({ cache, refetchQueries }: ApolloClient, { operation, rowId, version, book }: ChangesSubscription["changes"]) {
  if (operation === "RESET") { // all books may have changed
    void refetchQueries({ include: [LIST] });
    return;
  }
  const row = { id: cache.identify({ __typename: "Book", id: rowId }), fragment: ROW };
  const known = cache.readFragment(row);
  if (operation === "UPDATE" && book && known && known.version < version) {
    cache.writeFragment({ ...row, data: book });
  }
  cache.updateQuery({ query: LIST }, (list) => {
    if (!list || (operation !== "CREATE" && operation !== "DELETE")) return;
    const edges = list.books.edges.filter(({ node }) => node.id !== rowId);
    if (operation === "DELETE") return { ...list, books: { ...list.books, edges, totalCount: list.books.totalCount - 1 } };
    if (!book || edges.length < list.books.edges.length) return;
    return { ...list, books: { ...list.books, edges: [{ __typename: "BookEdge" as const, node: book }, ...edges], totalCount: list.books.totalCount + 1 } };
  });
}
