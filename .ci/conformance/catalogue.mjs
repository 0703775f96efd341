// The program under test, and the schema that clients were promised.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const here = fileURLToPath(new URL(".", import.meta.url));

// generated holds what the tools write; none of it is committed.
export const generated = join(here, "generated");

export const promised = join(here, "schema.graphql");

const program = resolve(here, "../../bin/catalogue");

// currentSchema gives the schema of the program, in SDL.
export const currentSchema = () => execFileSync(program, ["schema"], { encoding: "utf8" });

// serve starts the program as it starts without any setting, with the bundled
// books, and gives its address.
export async function serve() {
  const folder = mkdtempSync(join(tmpdir(), "conformance-"));
  const server = spawn(program, ["serve", "--addr=127.0.0.1:0"], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise((done) => server.once("close", done));
  const close = async () => {
    server.kill();
    await ended;
    rmSync(folder, { recursive: true });
  };
  const log = [];
  for await (const line of createInterface({ input: server.stderr })) {
    log.push(line);
    const url = line.match(/listening.*(http:\/\/[^\s"]+)/)?.[1];
    if (url) {
      server.stderr.resume();
      return { url, close };
    }
  }
  await close();
  throw new Error(`the server ended:\n${log.join("\n")}`);
}
