// A page of books that loads more, and a book by its global id, as a client of
// Relay writes them.
declare const graphql: (text: TemplateStringsArray) => unknown;

export const page = graphql`
  query booksPageQuery($count: Int!, $cursor: String) {
    ...books_page @arguments(count: $count, cursor: $cursor)
  }
`;

export const books = graphql`
  fragment books_page on Query
  @argumentDefinitions(count: { type: "Int", defaultValue: 10 }, cursor: { type: "String" })
  @refetchable(queryName: "booksMoreQuery") {
    books(first: $count, after: $cursor) @connection(key: "page_books") {
      totalCount
      edges {
        node {
          ...books_line
        }
      }
    }
  }
`;

export const line = graphql`
  fragment books_line on Book @refetchable(queryName: "booksLineQuery") {
    name
    price
    genre {
      name
    }
  }
`;

export const create = graphql`
  mutation booksCreateMutation($input: CreateBookInput!) {
    createBook(input: $input) {
      book {
        nodeId
        ...books_line
      }
    }
  }
`;
