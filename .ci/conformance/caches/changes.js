// The changes of a book, and a mutation that deletes it, as a client of Relay writes them.
import { graphql } from "relay-runtime";

export const changes = graphql`
  query changesQuery {
    changes(types: [BOOK], ids: [1], first: 1000) {
      nodes {
        id
        rowId
        rowNodeId
        version
        name
      }
    }
    book(id: 1) {
      nodeId
      name
    }
  }
`;

export const remove = graphql`
  mutation changesDeleteMutation {
    deleteBook(input: { id: 1 }) {
      deletedBookNodeId @deleteRecord
    }
  }
`;
