import { graphql } from "./graphql";

export const ROW = graphql(`
  fragment Row on Book { id version name author price genre { id name category { id name } } }`);

// A page of books with their genres and categories. The server sends it again whenever it has changed.
export const LIST = graphql(`
  query List($filter: BookFilter, $orderBy: [BookOrder!], $search: String, $offset: Int!) @live {
    books(first: 20, filter: $filter, orderBy: $orderBy, search: $search, offset: $offset) {
      totalCount
      nodes { ...Row }
    }
  }`);

export const GENRES = graphql(`query Genres @live { genres(first: 100, orderBy: [{ field: NAME }]) { nodes { id name } } }`);

export const CREATE = graphql(`
  mutation Create($input: CreateBookInput!) { createBook(input: $input) { book { id } } }`);

export const UPDATE = graphql(`
  mutation Update($input: UpdateBookInput!) { updateBook(input: $input) { book { ...Row } } }`);
