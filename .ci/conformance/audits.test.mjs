// GraphQL over HTTP, checked by the audits of graphql-http.
import { serverAudits } from "graphql-http";
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { serve } from "./catalogue.mjs";

let server;
before(async () => { server = await serve(); });
after(() => server.close());

const audits = serverAudits({ url: () => `${server.url}/graphql`, fetchFn: fetch });

test("there are 61 audits", () => assert.equal(audits.length, 61));

for (const audit of audits) {
  test(`${audit.id} ${audit.name}`, async () => {
    const result = await audit.fn();
    assert.equal(result.status, "ok", result.reason);
  });
}
