// Books in a live list: search, filter, order and pages, a form to create a book, prices to change.
import { ApolloProvider } from "@apollo/client/react";
import { createRoot } from "react-dom/client";
import { AddBook } from "./AddBook";
import { Books } from "./Books";
import { client, setToken } from "./client";

createRoot(document.getElementById("root")!).render(
  <ApolloProvider client={client}>
    <label>Token <input type="password" onBlur={({ target }) => setToken(target.value.trim())} /></label>
    <AddBook />
    <Books />
  </ApolloProvider>,
);
