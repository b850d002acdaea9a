import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { serviceNames } from "@signalbox/core";
import { parseAllDocuments } from "yaml";
import { root } from "../generate/repository.ts";
import { commandsIn } from "../observe/test/runbook-commands.ts";

type Labels = Readonly<Record<string, string>>;

const read = (path: string) => readFile(join(root, path), "utf8");
const manifestsOf = async (engine: string) =>
  parseAllDocuments(await read(`k8s/engines/${engine}.yaml`)).map((document) => document.toJS());

/** The pods of a production cluster by their labels: two of each service, and the engines of `k8s/engines`. */
async function podsOfCluster(): Promise<readonly Labels[]> {
  const [postgres, kafka] = await Promise.all([manifestsOf("cloudnative-pg"), manifestsOf("strimzi")]);
  const cluster = postgres.find(({ kind }) => kind === "Cluster");
  const brokers = kafka.find(({ kind }) => kind === "KafkaNodePool");
  return [
    ...serviceNames.flatMap((name) => Array.from({ length: 2 }, () => ({ "app.kubernetes.io/name": name }))),
    { "app.kubernetes.io/name": "backup" },
    ...Array.from({ length: cluster.spec.instances }, (_, at) => ({
      ...cluster.spec.inheritedMetadata.labels,
      "cnpg.io/cluster": cluster.metadata.name,
      "cnpg.io/instanceRole": at === 1 ? "primary" : "replica",
    })),
    ...Array.from({ length: brokers.spec.replicas }, () => brokers.spec.template.pod.metadata.labels),
    ...["redis", "blobs", "collector"].map((engine) => ({ "signalbox.engine": engine })),
    { "app.kubernetes.io/component": "controller" },
    { "app.kubernetes.io/name": "prometheus" },
  ];
}

const pods = await podsOfCluster();
const page = await read("docs/runbooks.md");
/** Every command of the page for a cluster, in its blocks as in its sentences. */
const commands = [
  ...new Set([
    ...commandsIn(page, "Kubernetes"),
    ...[...page.matchAll(/`(kubectl [^`]+)`/g)].map(([, command = ""]) => command),
  ]),
];

const selectorsIn = (command: string): string[] =>
  [...command.matchAll(/--selector (\S+)/g)].map(([, selector = ""]) => selector);

const podsOf = (selector: string): readonly Labels[] =>
  pods.filter((labels) =>
    selector.split(",").every((one) => {
      const [label = "", value] = one.split("=");
      return labels[label] === value;
    }),
  );

for (const command of commands.filter((one) => !/^kubectl (?:get|logs|-n \S+ (?:get|describe)) /.test(one))) {
  test(`a command of the runbooks that changes something touches one pod or one deployment: ${command.slice(0, 90)}`, () => {
    for (const selector of selectorsIn(command)) assert.equal(podsOf(selector).length, 1, selector);
    if (selectorsIn(command).length > 0) return;
    const [, target] = /(deployment\/\S+|deploy\/\S+|\$POD|--from=cronjob\/backup |pod \$POD)/.exec(command) ?? [];
    assert.ok(target, `${command} names neither a selector nor an object`);
  });
}

test("every selector of the runbooks finds a pod", () => {
  const selectors = commands.flatMap(selectorsIn).filter((selector) => !selector.includes("$"));
  assert.ok(selectors.length > 5);
  assert.deepEqual(
    selectors.filter((selector) => podsOf(selector).length === 0),
    [],
  );
});
