import { token } from './token.js';

// The requests that the playground begins with, by their names.
export const examples = {
  'Nested books': {
    query: `# Ctrl Enter runs this. Names are completed while you type.
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
  Facets: {
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
  'The page that follows': {
    query: `query NextPage($after: String) {
  books(first: 5, after: $after, orderBy: { field: PUBLISHED_AT, direction: DESC }) {
    nodes { name publishedAt }
    # Put endCursor into the variable "after" for the page that follows.
    pageInfo { hasNextPage endCursor }
  }
}`,
    variables: '{\n  "after": null\n}',
  },
  'A write': {
    query: `# A write needs a token: give it by the button Token, or as the header Authorization.
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
};

// withToken returns the headers of a request with the token that was given in this tab,
// unless they have another.
export function withToken(headers = {}) {
  const { authorization, Authorization = authorization, ...others } = headers;
  const own = Authorization && Authorization !== 'Bearer TOKEN' ? Authorization : token() && `Bearer ${token()}`;
  return { 'Content-Type': 'application/json', Accept: 'application/json', ...others, ...(own && { Authorization: own }) };
}

export const introspectionOff = 'The schema is not told here. Whoever runs the service can switch it on: CATALOGUE_INTROSPECTION=true, or =token for whoever has a token.';
