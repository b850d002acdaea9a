/** A package with files in the image. */
export interface ImagePackage {
  readonly name: string;
  readonly version: string;
  /** The SPDX identifier, such as `MIT`. */
  readonly licence: string;
  /** The sum of its archive as the lock file has it: `sha512-` and base64. */
  readonly integrity: string;
  /** The text of the licence, where the package contains it. */
  readonly text: string | null;
}

/** Licences that only require attribution. */
export const plainLicences = [
  ...["MIT", "MIT-0", "ISC", "0BSD", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "BlueOak-1.0.0"],
  ...["CC0-1.0", "CC-BY-3.0", "Unlicense", "Zlib", "Python-2.0", "PSF-2.0"],
];

/** Tells whether a licence, as a manifest writes it, asks for more than to be named. One plain licence of a choice is enough. */
export function asksForMore(licence: string): boolean {
  const choices = licence.replaceAll(/[()]/g, "").split(/ or /i);
  return !choices.some((choice) => choice.split(/ and /i).every((one) => plainLicences.includes(one)));
}

/** The product that a bill belongs to, and the runtime that runs it. */
export interface BilledProduct {
  readonly version: string;
  readonly node: string;
}

/** Writes the contents of the image in CycloneDX 1.6, for vulnerability scanners. */
export function softwareBill(packages: readonly ImagePackage[], { version, node }: BilledProduct): string {
  const libraries = packages.map(({ name, version: ofPackage, licence, integrity }) => ({
    type: "library",
    name,
    version: ofPackage,
    purl: `pkg:npm/${name.replace("@", "%40")}@${ofPackage}`,
    licenses: [{ expression: licence }],
    hashes: [{ alg: "SHA-512", content: Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex") }],
  }));
  const runtime = { type: "platform", name: "node", version: node, purl: `pkg:generic/node@${node}` };
  const bill = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: { type: "application", name: "signalbox", version, licenses: [{ expression: "Apache-2.0" }] },
    },
    components: [runtime, ...libraries],
  };
  return `${JSON.stringify(bill, null, 1)}\n`;
}

/** Writes the page of licences: first those with further conditions, then all of them with their texts. */
export function licencePage(packages: readonly ImagePackage[]): string {
  const row = ({ name, version, licence }: ImagePackage) => `| ${name} | ${version} | ${licence} |`;
  const table = (rows: readonly ImagePackage[]) => [
    "| package | version | licence |",
    "|---|---|---|",
    ...rows.map(row),
  ];
  const texts = packages.flatMap(({ name, text }) =>
    text ? [`## ${name}`, "", "```text", text.trim(), "```", ""] : [],
  );
  return [
    "# Licences of this image's contents",
    "",
    "These require more than attribution. The Elastic License 2.0 of `@apollo/*` forbids offering them to others as a hosted service; the",
    "LGPL of libvips lets its library be replaced: it is the shared object below `node_modules/@img`.",
    "",
    ...table(packages.filter(({ licence }) => asksForMore(licence))),
    "",
    "All of them:",
    "",
    ...table(packages),
    "",
    ...texts,
  ].join("\n");
}
