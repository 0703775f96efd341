// The PromQL of the alert rules and the dashboard, parsed by the grammar of Prometheus.
import { parser } from "@prometheus-io/lezer-promql";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { here } from "./catalogue.mjs";

const operators = (name) => readFileSync(join(here, "../../edge/telemetry/ops", name), "utf8");

// check replaces the variables of Grafana and fails for a syntax error.
function check(expression) {
  const text = expression.replaceAll("$__rate_interval", "1m").replaceAll("$instance", ".*");
  parser.parse(text).iterate({
    enter(node) {
      assert.ok(!node.type.isError, `${text}: an error at ${JSON.stringify(text.slice(node.from))}`);
    },
  });
}

for (const rule of parse(operators("alerts.yml")).groups.flatMap((group) => group.rules)) {
  test(`alert ${rule.alert}`, () => check(rule.expr));
}

for (const panel of JSON.parse(operators("dashboard.json")).panels.filter((panel) => panel.targets)) {
  test(`panel ${panel.title}`, () => panel.targets.forEach((target) => check(target.expr)));
}

test("wrong PromQL is found", () => {
  for (const wrong of ["sum(rate(x[1m])", "sum by instance (x)", "x{a=b}", "rate(x[])", "x > > 1"]) assert.throws(() => check(wrong));
});
