// Changes between two schemas, found by graphql-inspector.
import { CriticalityLevel, diff } from "@graphql-inspector/core";
import { buildSchema } from "graphql";

// changes lists the changes. A change is breaking if clients may fail by it. Removing a deprecated field is not.
export async function changes(before, after) {
  const found = await diff(buildSchema(before), buildSchema(after));
  return found.map(({ message, criticality, meta }) => ({
    message,
    breaks: criticality.level === CriticalityLevel.Breaking
      && !Object.entries(meta ?? {}).some(([name, value]) => /^is.*Deprecated$/.test(name) && value),
  }));
}

export const describe = (list) => list.map(({ message, breaks }) => `${breaks ? "BREAKS " : "       "}${message}`).join("\n");
