import type { ContractChange } from "./contract-changes.ts";

export interface Commit {
  readonly hash: string;
  readonly subject: string;
  /** The files it touched. */
  readonly files: readonly string[];
}

const title = "# Changelog\n";
const parts: Readonly<Record<ContractChange["part"], string>> = {
  events: "Events",
  routes: "Routes",
  graph: "Graph",
  properties: "Properties",
  client: "Client",
  databases: "Databases",
};
const weights = ["breaking", "addition", "other"] as const;

interface Heading {
  readonly version: string;
  readonly day: string;
  /** The commit that was released: that of this changelog stands on it. */
  readonly commit: string;
}

const headingOf = ({ version, day, commit }: Heading): string => `## ${version}, ${day}, commit ${commit}\n`;
const heading = /^## (?<version>\S+), \d{4}-\d{2}-\d{2}, commit (?<commit>[0-9a-f]+)$/m;

/** Finds the newest release of a changelog: its version and its commit; null before the first. */
export function newestRelease(changelog: string): Pick<Heading, "version" | "commit"> | null {
  const { version, commit } = heading.exec(changelog)?.groups ?? {};
  return version === undefined || commit === undefined ? null : { version, commit };
}

/** Writes the section of a version: what changed for those who use it, then the commits by where they are. */
export function changelogSection(
  head: Heading,
  changes: readonly ContractChange[],
  commits: readonly Commit[],
): string {
  const contracts = Object.entries(parts).flatMap(([part, name]) => {
    const ofPart = weights.flatMap((weight) => changes.filter((one) => one.part === part && one.weight === weight));
    return ofPart.length === 0 ? [] : [`### ${name}\n\n${ofPart.map(line).join("")}`];
  });
  const areas = Map.groupBy(commits, areaOf);
  const work = [...areas]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(
      ([area, ofArea]) => `- **${area}**\n${ofArea.map(({ subject, hash }) => `  - ${subject} (${hash})\n`).join("")}`,
    );
  const blocks = [...contracts, ...(work.length === 0 ? [] : [`### Commits\n\n${work.join("")}`])];
  return [headingOf(head), ...blocks].join("\n");
}

const line = ({ weight, text }: ContractChange): string =>
  `- ${weight === "breaking" ? "**Breaking:** " : ""}${text}\n`;

/** The folder that most of its files are in: `account`, `http`, `infra`. */
function areaOf({ files }: Commit): string {
  const counts = new Map<string, number>();
  for (const file of files) {
    const [top = "", second = ""] = file.split("/");
    const area = ["services", "libs"].includes(top) ? second : file.includes("/") ? top : "repository";
    counts.set(area, (counts.get(area) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? "repository";
}

const unreleased = /^## [^\n]*, unreleased\n(?<notes>[\s\S]*?)(?=^## |$(?![\s\S]))/m;

/** Puts a section above those of earlier versions. What was written by hand for the version to come stands first in it. */
export function withSection(changelog: string | null, section: string): string {
  const before = (changelog ?? title).slice(title.length);
  const notes = unreleased.exec(before)?.groups?.notes?.trim() ?? "";
  const earlier = before.replace(unreleased, "").trim();
  const [head = "", ...rest] = section.trim().split("\n");
  const blocks = [title.trim(), head, notes, rest.join("\n").trim(), earlier];
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
}
