// The program under test, and the schema that is promised to clients.
import { buildSchema, getOperationAST, isScalarType, isSpecifiedScalarType, Kind, parse } from "graphql";
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer as createTCPServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const here = fileURLToPath(new URL(".", import.meta.url));

// generated is the folder for files that the tools write. They are not committed.
export const generated = join(here, "generated");

export const promised = join(here, "schema.graphql");

export const program = resolve(here, "../../bin/catalogue");

// currentSchema is the schema of the program as SDL.
export const currentSchema = () => execFileSync(program, ["schema"], { encoding: "utf8" });

// scalars maps each custom scalar to type. All of them are strings in responses.
export const scalars = (type) => Object.fromEntries(Object.values(buildSchema(currentSchema()).getTypeMap())
  .filter((of) => isScalarType(of) && !isSpecifiedScalarType(of)).map((of) => [of.name, type]));

// serve starts the program with the sample, and returns its address, and functions for tokens and accounts.
export async function serve(...args) {
  const folder = mkdtempSync(join(tmpdir(), "conformance-"));
  const server = spawn(program, ["serve", "--addr=127.0.0.1:0", ...args], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise((done) => server.once("close", done));
  const close = async () => {
    server.kill();
    await ended;
    rmSync(folder, { recursive: true });
  };
  const token = () => execFileSync(program, ["token"], { cwd: folder, encoding: "utf8" }).trim();
  // account makes the account of an editor, and returns its password.
  const account = async (name, url) => {
    const [, secret] = execFileSync(program, ["user", "add", name, "--role=editor"], { cwd: folder, encoding: "utf8" }).match(/#(\S+)/);
    const password = "correct horse";
    const response = await fetch(`${url}/welcome`, {
      method: "POST", headers: { "Content-Type": "application/json", "Sec-Fetch-Site": "same-origin" }, body: JSON.stringify({ secret, password }),
    });
    assert.equal(response.status, 200, await response.text());
    return password;
  };
  const log = [];
  for await (const line of createInterface({ input: server.stderr })) {
    log.push(line);
    const url = line.match(/listening.*(http:\/\/[^\s"]+)/)?.[1];
    if (url) {
      server.stderr.resume();
      return { url, token, account: (name) => account(name, url), close };
    }
  }
  await close();
  throw new Error(`the server exited:\n${log.join("\n")}`);
}

// servedSchema is the schema that a server sends as a file.
export async function servedSchema() {
  const server = await serve();
  try {
    const response = await fetch(`${server.url}/schema.graphql`);
    assert.equal(response.status, 200);
    return await response.text();
  } finally {
    await server.close();
  }
}

// answersOnly starts the program with a manifest of trusted documents. It checks that each query without a
// variable succeeds by its id, and that another document fails.
export async function answersOnly(manifest, operations) {
  const server = await serve(`--trusted-documents=${manifest}`);
  try {
    const ask = async (body) => {
      const response = await fetch(`${server.url}/graphql`, {
        method: "POST", headers: { "Content-Type": "application/json", Authorization: `Bearer ${server.token()}` }, body: JSON.stringify(body),
      });
      return response.json();
    };
    let answered = 0;
    for (const [id, text] of Object.entries(operations)) {
      const { operation, variableDefinitions } = getOperationAST(parse(text));
      if (operation !== "query" || variableDefinitions.some(({ type }) => type.kind === Kind.NON_NULL_TYPE)) continue;
      const { data, errors } = await ask({ documentId: id });
      assert.ok(data && !errors, `${text}: ${JSON.stringify(errors)}`);
      answered++;
    }
    assert.ok(answered > 0, "no document needs no variable");
    assert.equal((await ask({ query: "{ __typename }" })).errors[0].extensions.code, "FORBIDDEN");
  } finally {
    await server.close();
  }
}

// listen starts a server and returns its address without the scheme, and a function that ends it.
export async function listen(server) {
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { host: `127.0.0.1:${server.address().port}`, close: () => server.close() };
}

// wire passes connections to a server. drop breaks them and those to come, until mend, which may name another server.
// mute leaves the present ones open, and passes nothing more. idle resolves when no connection is open.
export async function wire(target) {
  const open = new Set();
  let broken = false;
  const server = createTCPServer((client) => {
    if (broken) return client.destroy();
    const { hostname: host, port } = new URL(target);
    const upstream = connect({ host, port });
    for (const [from, to] of [[client, upstream], [upstream, client]]) {
      open.add(from);
      from.pipe(to);
      from.on("error", () => {});
      from.on("close", () => {
        open.delete(from);
        to.destroy();
        if (open.size === 0) server.emit("idle");
      });
    }
  });
  const drop = () => {
    broken = true;
    for (const socket of open) socket.destroy();
  };
  const mute = () => {
    for (const socket of open) socket.unpipe().resume();
  };
  const mend = (other = target) => {
    target = other;
    broken = false;
  };
  const { host: address, close } = await listen(server);
  const idle = () => open.size === 0 || once(server, "idle");
  return { url: `http://${address}`, drop, mend, mute, idle, close: () => { drop(); close(); } };
}
