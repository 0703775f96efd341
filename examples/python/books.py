"""The catalogue with Python's standard library alone."""

import json
import os
import urllib.request

URL = os.environ.get("CATALOGUE_URL", "http://localhost:8080") + "/graphql"
HEADERS = {
    "Content-Type": "application/json",
    "Authorization": f"Bearer {os.environ.get('TOKEN')}",  # writes need one
}


class GraphQLError(Exception):
    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["extensions"]["code"]


def graphql(query, **variables):
    body = json.dumps({"query": query, "variables": variables}).encode()
    with urllib.request.urlopen(urllib.request.Request(URL, body, HEADERS)) as response:
        answer = json.load(response)
    if "errors" in answer:
        raise GraphQLError(answer["errors"][0])
    return answer["data"]


def first_books():
    """Books with their genres and categories, in one request."""
    return graphql("{ books(first: 3) { nodes { name genre { name category { name } } } } }")["books"]["nodes"]


def all_books():
    """Every book, page by page."""
    after = None
    while True:
        books = graphql(
            "query ($after: String) { books(first: 200, after: $after) { nodes { id name } pageInfo { hasNextPage endCursor } } }",
            after=after,
        )["books"]
        yield from books["nodes"]
        if not books["pageInfo"]["hasNextPage"]:
            return
        after = books["pageInfo"]["endCursor"]


def read_book(id):
    return graphql("query ($id: ID!) { book(id: $id) { id version name pages price } }", id=id)["book"]


def change_book(book, patch, show):
    """Changes a book that was read before, and shows the change at once.

    Where somebody else has changed the book meanwhile, both changes are kept; one
    of the same field is theirs until a person decides.
    """
    show(book | patch)
    try:
        stored = graphql(
            "mutation ($input: UpdateBookInput!) { updateBook(input: $input) { book { id version name pages price } } }",
            input={"id": book["id"], "expectedVersion": book["version"], "patch": patch},
        )
        show(stored["updateBook"]["book"])
    except GraphQLError as error:
        now = read_book(book["id"])
        show(now)
        if error.code != "CONFLICT" or any(now[field] != book[field] for field in patch):
            raise
        print(f"changed concurrently: trying again with version {now['version']}")
        change_book(now, patch, show)


def main():
    for book in first_books():
        print(f"{book['name']}: {book['genre']['name']}, {book['genre']['category']['name']}")

    print(sum(1 for _ in all_books()), "books")

    book = read_book(1)
    change_book(book, {"pages": book["pages"] + 1}, lambda _: None)  # somebody else
    change_book(book, {"price": "4.50"}, lambda b: print(f"price {b['price']}, {b['pages']} pages"))


if __name__ == "__main__":
    main()
