import { hostname } from "node:os";

/** Builds a URL of a forbidden target, with a port and a path. */
type Form = (port: number, path: string) => string;

const atHost =
  (host: string): Form =>
  (port, path) =>
    `http://${host}:${port}${path}`;

/** Other spellings of 127.0.0.1, and other addresses of this machine. */
const loopback = [
  ...["127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7F.0x0.0x0.0x1", "0177.0.0.1", "017700000001"],
  ...[
    "0x7f.1",
    "127.0.0.1.",
    "127.000.000.001",
    "0000000177.0.0.1",
    "127.0.0.2",
    "127.255.255.254",
    "0.0.0.0",
    "0",
    "0x0",
  ],
  ...["[::1]", "[0:0:0:0:0:0:0:1]", "[::0001]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:0001]"],
  ...["[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[::ffff:0:127.0.0.1]", "[::]"],
  ...[
    "[::ffff:0.0.0.0]",
    "[2a00:1450::5efe:127.0.0.1]",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "a.localhost",
    "a.b.LocalHost.",
  ],
  ...["１２７.０.０.１", "127。0。0。1", "127．0．0．1", "①②⑦.⓪.⓪.①", "ｌｏｃａｌｈｏｓｔ", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ"],
  ...["%31%32%37.0.0.1", "127%2e0%2e0%2e1", "%6c%6f%63%61%6c%68%6f%73%74", "local\thost", "127.0.0\n.1"],
];

/** Private addresses of other machines. */
const elsewhere = [
  ...[
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "[::ffff:a9fe:a9fe]",
    "[::ffff:169.254.169.254]",
  ],
  ...[
    "[fd00:ec2::254]",
    "100.100.100.200",
    "192.0.0.192",
    "10.0.0.1",
    "10.255.255.255",
    "0xa000001",
    "012.0.0.1",
    "172.16.0.1",
  ],
  ...[
    "172.31.255.255",
    "192.168.0.1",
    "192.168.1.254",
    "3232235777",
    "100.64.0.1",
    "198.18.0.1",
    "192.0.2.1",
    "198.51.100.1",
  ],
  ...[
    "203.0.113.1",
    "192.88.99.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "[fc00::1]",
    "[fdff::1]",
  ],
  ...[
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[2001:db8::1]",
    "[2001::1]",
    "[2001:10::1]",
    "[100::1]",
    "[3fff::1]",
    "[5f00::1]",
  ],
  ...[
    "[::ffff:10.0.0.1]",
    "[::10.0.0.1]",
    "[2002:a00:1::]",
    "[64:ff9b::10.0.0.1]",
    "[2a00:1450::200:5efe:10.0.0.1]",
    "[1::1]",
    "[4000::1]",
  ],
];

/** URLs in which two parsers see two different hosts. */
const confusing: Readonly<Record<string, Form>> = {
  "a public name as user": (port, path) => `http://public.example@127.0.0.1:${port}${path}`,
  "a public name as user and password": (port, path) => `http://public.example:443@127.0.0.1:${port}${path}`,
  "a public name behind a fragment": (port, path) => `http://127.0.0.1:${port}${path}#@public.example/`,
  "a public name behind a backslash": (port, path) => `http://127.0.0.1:${port}\\@public.example${path}`,
  "a backslash for the slashes": (port, path) => `http:\\\\127.0.0.1:${port}${path}`,
  "one slash": (port, path) => `http:/127.0.0.1:${port}${path}`,
  "no slash": (port, path) => `http:127.0.0.1:${port}${path}`,
  "three slashes": (port, path) => `http:///127.0.0.1:${port}${path}`,
  "no scheme": (port, path) => `//127.0.0.1:${port}${path}`,
  "a space before it": (port, path) => ` http://127.0.0.1:${port}${path}`,
  "a line break in the scheme": (port, path) => `ht\ntp://127.0.0.1:${port}${path}`,
  "the scheme in capitals": (port, path) => `HTTP://127.0.0.1:${port}${path}`,
  "zeros before the port": (port, path) => `http://127.0.0.1:0${port}${path}`,
  "a secure scheme": (port, path) => `https://127.0.0.1:${port}${path}`,
  "a public name with U+0000": (port, path) => `http://127.0.0.1%00.public.example:${port}${path}`,
};

/** Schemes other than http and https. */
const schemes = [
  "file:///etc/passwd",
  "file://localhost/etc/passwd",
  "FILE:/etc/passwd",
  "data:image/png;base64,iVBORw0KGgo=",
];
const otherSchemes = [
  "ftp",
  "gopher",
  "dict",
  "ldap",
  "ws",
  "wss",
  "tftp",
  "sftp",
  "jar:http",
  "view-source:http",
  "blob:http",
  "http+unix",
];

/** Every form of a forbidden target, by its name. */
export const addressForms: ReadonlyMap<string, Form> = new Map([
  ...[...loopback, ...elsewhere].map((host) => [`the host ${JSON.stringify(host)}`, atHost(host)] as const),
  ...Object.entries(confusing),
  ...schemes.map((url) => [`the URL ${url.slice(0, 40)}`, () => url] as const),
  ...otherSchemes.map(
    (scheme) =>
      [`the scheme ${scheme}`, (port: number, path: string) => `${scheme}://127.0.0.1:${port}${path}`] as const,
  ),
]);

/** Names that this machine resolves to its own addresses, which only shows at the connection. */
export const ownNames: readonly string[] = [hostname(), "ip6-localhost", "ip6-loopback", "localhost.localdomain"];
