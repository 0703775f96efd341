import { token } from '../static/token.js';

// The playground's examples by name.
export const examples = {
  'Nested books': {
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
  'Next page': {
    query: `query NextPage($after: String) {
  books(first: 5, after: $after, orderBy: { field: PUBLISHED_AT, direction: DESC }) {
    nodes { name publishedAt }
    # Put endCursor into the variable "after" to get the next page.
    pageInfo { hasNextPage endCursor }
  }
}`,
    variables: '{\n  "after": null\n}',
  },
  'Create a book': {
    query: `# A write needs an access token: use the button Token, or the header Authorization.
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

// withToken returns headers with the token of this tab, unless they have another token.
export function withToken(headers = {}) {
  const { authorization, Authorization = authorization, ...others } = headers;
  const own = Authorization && Authorization !== 'Bearer TOKEN' ? Authorization : token() && `Bearer ${token()}`;
  return { 'Content-Type': 'application/json', Accept: 'application/json', ...others, ...(own && { Authorization: own }) };
}

export const introspectionOff = 'The schema is hidden. The administrator can enable it with CATALOGUE_INTROSPECTION=true, or =token for requests with a token.';
