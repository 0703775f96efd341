import { useMutation, useQuery } from "@apollo/client/react";
import { type SubmitEvent, useRef } from "react";
import { CREATE, GENRES } from "./operations";

// AddBook creates a book. The live list shows it, like the books of others.
export function AddBook() {
  const genres = useQuery(GENRES, { fetchPolicy: "cache-and-network" }).data?.genres.nodes ?? [];
  const [create, { error }] = useMutation(CREATE);
  const key = useRef(crypto.randomUUID()); // the same input again, after a lost response, creates no second book
  const renew = () => { key.current = crypto.randomUUID(); };
  const add = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const { pages, ...texts } = Object.fromEntries(new FormData(form)) as Record<"name" | "author" | "pages" | "publishedAt" | "price" | "genreId", string>;
    try {
      await create({ variables: { input: { ...texts, pages: Number(pages) } }, context: { headers: { "Idempotency-Key": key.current } } });
      form.reset();
      renew();
    } catch {} // error is shown
  };
  return <form onSubmit={add} onChange={renew}>
    <input name="name" placeholder="Name" required />
    <input name="author" placeholder="Author" required />
    <input name="pages" type="number" placeholder="Pages" required />
    <input name="publishedAt" type="date" aria-label="Published" required />
    <input name="price" inputMode="decimal" placeholder="Price" required />
    <select name="genreId" aria-label="Genre">{genres.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}</select>
    <button>Add</button>
    {error && <span role="alert">{error.message}</span>}
  </form>;
}
