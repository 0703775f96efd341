import { graphql } from "./graphql";

export const ROW = graphql(`
  fragment Row on Book { id version name author price genre { id name category { id name } } }`);

// A page of the newest books, with their genres and categories, in one request.
export const LIST = graphql(`
  query List($after: String) {
    books(first: 20, after: $after, orderBy: [{ field: ID, direction: DESC }]) {
      totalCount
      edges { node { ...Row } }
      pageInfo { hasNextPage endCursor }
    }
  }`);

export const CHANGES = graphql(`
  subscription Changes($after: String) {
    changes(types: [BOOK], after: $after) { id position operation rowId version actor book { ...Row } }
  }`);

export const GENRES = graphql(`query Genres { genres(first: 100, orderBy: [{ field: NAME }]) { nodes { id name } } }`);

export const CREATE = graphql(`
  mutation Create($input: CreateBookInput!) { createBook(input: $input) { book { id } } }`);

export const UPDATE = graphql(`
  mutation Update($input: UpdateBookInput!) { updateBook(input: $input) { book { ...Row } } }`);
