import { useQuery } from "@apollo/client/react";
import { useState } from "react";
import type { BookOrder } from "./graphql/graphql";
import { GENRES, LIST } from "./operations";
import { Price } from "./Price";

const orders: Record<string, BookOrder[]> = {
  Newest: [{ field: "ID", direction: "DESC" }],
  Name: [{ field: "NAME" }],
  Cheapest: [{ field: "PRICE" }],
};

// Books shows a page of a list. Its filter, order, search and page are variables of one live query.
export function Books() {
  const [search, setSearch] = useState("");
  const [genreId, setGenre] = useState("");
  const [order, setOrder] = useState("Newest");
  const [offset, setOffset] = useState(0);
  const variables = { search: search || undefined, filter: genreId ? { genreId: { eq: genreId } } : undefined, orderBy: orders[order], offset };
  // A list in the cache is requested, too, because only a request makes it live.
  const { data, previousData, error } = useQuery(LIST, { variables, fetchPolicy: "cache-and-network" });
  const genres = useQuery(GENRES, { fetchPolicy: "cache-and-network" }).data?.genres.nodes ?? [];
  const { nodes, totalCount } = (data ?? previousData)?.books ?? { nodes: [], totalCount: 0 };
  const choose = (set: (value: string) => void) => ({ target }: { target: { value: string } }) => {
    set(target.value);
    setOffset(0);
  };
  return <>
    <input type="search" placeholder="Search" value={search} onChange={choose(setSearch)} />
    <select aria-label="Filter" value={genreId} onChange={choose(setGenre)}>
      <option value="">All genres</option>
      {genres.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
    </select>
    <select aria-label="Order" value={order} onChange={choose(setOrder)}>
      {Object.keys(orders).map((name) => <option key={name}>{name}</option>)}
    </select>
    {error && <p role="alert">{error.message}</p>}
    <table>
      <tbody>{nodes.map((book) => <tr key={book.id}>
        <th scope="row">{book.name}</th>
        <td>{book.author}</td>
        <td>{book.genre.name}, {book.genre.category.name}</td>
        <td><Price book={book} /></td>
      </tr>)}</tbody>
    </table>
    <p role="status">{nodes.length && offset + 1} to {offset + nodes.length} of {totalCount}</p>
    <button disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - 20))}>Back</button>
    <button disabled={offset + 20 >= totalCount} onClick={() => setOffset(offset + 20)}>Next</button>
  </>;
}
