import { CombinedGraphQLErrors } from "@apollo/client";
import { useMutation } from "@apollo/client/react";
import { useState } from "react";
import type { RowFragment } from "./graphql/graphql";
import { UPDATE } from "./operations";

// currentVersion returns the version to expect after a conflict.
function currentVersion(error: unknown): number | undefined {
  const extensions = CombinedGraphQLErrors.is(error) ? error.errors[0]?.extensions : undefined;
  return extensions?.code === "CONFLICT" ? (extensions.currentVersion as number) : undefined;
}

// Price shows and changes the price of a book. If somebody else has changed the book since it was opened, the user
// decides. A second conflict asks again, because it is saved for the version that was shown.
export function Price({ book }: { book: RowFragment }) {
  const [draft, setDraft] = useState<{ price: string; version: number; conflict?: boolean }>();
  const [update, { error }] = useMutation(UPDATE);
  if (!draft) {
    return <button onClick={() => setDraft(book)} aria-label={`Change the price of ${book.name}`}>{book.price}</button>;
  }
  const save = async () => {
    try {
      await update({ variables: { input: { id: book.id, patch: { price: draft.price }, expectedVersion: draft.version } } });
      setDraft(undefined);
    } catch (error) {
      const version = currentVersion(error);
      if (version) setDraft({ ...draft, version, conflict: true });
    }
  };
  return <form action={save}>
    <input aria-label="Price" value={draft.price} onChange={({ target }) => setDraft({ ...draft, price: target.value })} />
    <button>{draft.conflict ? "Save mine" : "Save"}</button>
    <button type="button" onClick={() => setDraft(undefined)}>{draft.conflict ? `Keep ${book.price}` : "Cancel"}</button>
    {error && <span role="alert">{error.message}</span>}
  </form>;
}
