import { useQuery, useSubscription } from "@apollo/client/react";
import { apply } from "./changes";
import { CHANGES, LIST } from "./operations";
import { Price } from "./Price";

export function Books() {
  // The response has the position that the subscription continues from.
  const { data, error, fetchMore } = useQuery(LIST, { context: { headers: { "Catalogue-Position": "report" } } });
  const live = useSubscription(CHANGES, {
    skip: !data,
    fetchPolicy: "no-cache", // apply writes to the cache
    onData: ({ client, data: { data } }) => data && apply(client, data.changes),
  });
  if (!data) return error ? <p role="alert">{error.message}</p> : <p>Loading …</p>;
  const { edges, totalCount, pageInfo } = data.books;
  const change = live.data?.changes;
  return <>
    <p role="status">{change && `${change.operation} ${change.book?.name ?? change.id} by ${change.actor ?? "somebody"}`}</p>
    {live.error && <p role="alert">{live.error.message} Reload the page.</p>}
    <table>
      <tbody>{edges.map(({ node }) => <tr key={node.id}>
        <th scope="row">{node.name}</th>
        <td>{node.author}</td>
        <td>{node.genre.name}, {node.genre.category.name}</td>
        <td><Price book={node} /></td>
      </tr>)}</tbody>
    </table>
    <p>{edges.length} of {totalCount}</p>
    {pageInfo.hasNextPage && <button onClick={() => fetchMore({ variables: { after: pageInfo.endCursor } })}>More</button>}
  </>;
}
