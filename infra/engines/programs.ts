/** One program that `npm run test:engines` takes from the machine, because no package registry of ours has it. */
export interface WantedProgram {
  /** As on PATH; the first that is there counts. */
  readonly names: readonly string[];
  /** Makes the program print its version and end; left out, its presence is enough. */
  readonly versionArgs?: readonly string[];
  /** The oldest version that does, as its leading numbers; left out, any does. */
  readonly oldest?: string;
  /** The tests that need it. */
  readonly usedFor: string;
  /** The package that brings it, by system; null where a system brings it by itself, or has none. */
  readonly packages: Readonly<Record<PackageSystem, string | null>>;
  /** Said when the package of an older system is too old. */
  readonly tooOld?: string;
}

export type PackageSystem = "debian" | "fedora" | "macos";

/** The command of each system that installs packages by their names. */
export const installCommands: Readonly<Record<PackageSystem, string>> = {
  debian: "apt-get install -y --no-install-recommends",
  fedora: "dnf install -y",
  macos: "brew install",
};

const newerJava = "Debian 11 and older: install a Temurin JDK 17 (https://adoptium.net) and put its bin on PATH";
const newerGo = "Debian 12 and older: unpack Go from https://go.dev/dl and put its bin on PATH";

/** Everything that the engines tier wants beside Node and npm. What Maven, Go, pip and npm can fetch is fetched. */
export const wantedPrograms: readonly WantedProgram[] = [
  {
    names: ["java"],
    versionArgs: ["-version"],
    oldest: "17",
    usedFor: "Kafka",
    packages: { debian: "openjdk-17-jdk-headless", fedora: "java-21-openjdk-devel", macos: "openjdk" },
    tooOld: newerJava,
  },
  {
    names: ["javac"],
    versionArgs: ["-version"],
    oldest: "17",
    usedFor: "the Java sample",
    packages: { debian: "openjdk-17-jdk-headless", fedora: "java-21-openjdk-devel", macos: "openjdk" },
    tooOld: newerJava,
  },
  {
    names: ["mvn"],
    versionArgs: ["--version"],
    oldest: "3.6",
    usedFor: "fetching Kafka",
    packages: { debian: "maven", fedora: "maven", macos: "maven" },
  },
  {
    names: ["go"],
    versionArgs: ["version"],
    oldest: "1.25",
    usedFor: "building versitygw (S3), Helm",
    packages: { debian: "golang-go", fedora: "golang", macos: "go" },
    tooOld: newerGo,
  },
  {
    names: ["python3"],
    versionArgs: ["--version"],
    oldest: "3.11",
    usedFor: "schemathesis, Pillow, the Python sample",
    packages: { debian: "python3", fedora: "python3", macos: "python" },
    tooOld: "Debian 11 and older: install Python 3.11 or newer with pyenv and put it first on PATH",
  },
  {
    names: ["redis-server"],
    versionArgs: ["--version"],
    oldest: "6",
    usedFor: "Redis",
    packages: { debian: "redis-server", fedora: "redis", macos: "redis" },
  },
  {
    names: ["nginx"],
    versionArgs: ["-v"],
    oldest: "1.18",
    usedFor: "the edge",
    packages: { debian: "nginx-light", fedora: "nginx", macos: "nginx" },
  },
  {
    names: ["chromium", "chromium-browser", "google-chrome"],
    versionArgs: ["--version"],
    usedFor: "pages in a browser",
    packages: { debian: "chromium", fedora: "chromium", macos: "--cask chromium" },
  },
  {
    names: ["prometheus"],
    versionArgs: ["--version"],
    oldest: "2.40",
    usedFor: "scraped metrics",
    packages: { debian: "prometheus", fedora: "prometheus", macos: "prometheus" },
  },
  {
    names: ["promtool"],
    versionArgs: ["--version"],
    oldest: "2.40",
    usedFor: "alert rules",
    packages: { debian: "prometheus", fedora: "prometheus", macos: "prometheus" },
  },
  {
    names: ["amtool"],
    versionArgs: ["--version"],
    usedFor: "alert routes",
    packages: { debian: "prometheus-alertmanager", fedora: "alertmanager", macos: "alertmanager" },
  },
  {
    names: ["prometheus-blackbox-exporter", "blackbox_exporter"],
    versionArgs: ["--version"],
    usedFor: "probes of the edge",
    packages: { debian: "prometheus-blackbox-exporter", fedora: null, macos: "blackbox_exporter" },
    tooOld: "Fedora has no package: go install github.com/prometheus/blackbox_exporter@v0.27.0",
  },
  {
    names: ["psql"],
    versionArgs: ["--version"],
    usedFor: "roles of the databases",
    packages: { debian: "postgresql-client", fedora: "postgresql", macos: "libpq" },
  },
  {
    names: ["openssl"],
    versionArgs: ["version"],
    usedFor: "certificates, the tour",
    packages: { debian: "openssl", fedora: "openssl", macos: "openssl" },
  },
  {
    names: ["curl"],
    versionArgs: ["--version"],
    usedFor: "the tour",
    packages: { debian: "curl", fedora: "curl", macos: null },
  },
];
