// The requests that the playground's tabs begin with.
export const examples = [
  {
    query: `# Press Ctrl+Enter to run. Names are completed while you type.
query NestedBooks {
  books(first: 3, orderBy: { field: NAME }) {
    totalCount
    nodes {
      id
      name
      author
      price
      genre { name category { name } }
    }
  }
}`,
  },
  {
    query: `query Facets($search: String) {
  books(first: 5, search: $search) {
    totalCount
    nodes { name author }
    aggregate { price { min max avg } }
    facets {
      genres(first: 5) { genre { name } count }
      years(first: 5) { year count }
    }
  }
}`,
    variables: '{\n  "search": "love"\n}',
  },
  {
    query: `query NextPage($after: String) {
  books(first: 5, after: $after, orderBy: { field: PUBLISHED_AT, direction: DESC }) {
    nodes { name publishedAt }
    # Put endCursor into the variable "after" to get the next page.
    pageInfo { hasNextPage endCursor }
  }
}`,
    variables: '{\n  "after": null\n}',
  },
  {
    query: `# A write needs an access token: enter it under Headers, or first on a page of this tab.
mutation AddBook($input: CreateBookInput!) {
  createBook(input: $input) {
    book { id version name genre { name } }
  }
}`,
    variables: `{
  "input": {
    "name": "The Dispossessed",
    "author": "Ursula K. Le Guin",
    "pages": 341,
    "publishedAt": "1974-05-01",
    "price": "9.99",
    "genre": { "connect": { "id": 1 } }
  }
}`,
    headers: '{\n  "Authorization": "Bearer TOKEN"\n}',
  },
  {
    query: `# Press Ctrl+Enter, and change a book in another window.
subscription Changes {
  changes(types: BOOK) {
    operation
    version
    at
    book { id name price }
  }
}`,
  },
];
