import assert from "node:assert/strict";
import { test } from "node:test";
import { sniffImage } from "./sniff-image.ts";

const bytes = (text: string) => Buffer.from(text.padEnd(32, "\0"), "latin1");
const isoFile = (major: string, ...compatible: string[]) => {
  const brands = Buffer.from(`ftyp${major}\0\0\0\0${compatible.join("")}`, "latin1");
  const length = Buffer.alloc(4);
  length.writeUInt32BE(brands.length + 4);
  return Buffer.concat([length, brands]);
};

test("the accepted formats are recognised by their first bytes", () => {
  const files: [Buffer, string][] = [
    [bytes("\xff\xd8\xff\xe0"), "image/jpeg"],
    [bytes("\x89PNG\r\n\x1a\n"), "image/png"],
    [bytes("GIF87a"), "image/gif"],
    [bytes("GIF89a"), "image/gif"],
    [bytes("RIFF\x10\0\0\0WEBPVP8 "), "image/webp"],
    [isoFile("avif", "mif1"), "image/avif"],
    [isoFile("avif", "avis", "mif1"), "image/avif"],
    [isoFile("mif1", "miaf", "avif"), "image/avif"],
    [isoFile("heic", "mif1"), "image/heic"],
    [isoFile("mif1", "heic"), "image/heic"],
    [bytes("II*\0"), "image/tiff"],
    [bytes("MM\0*"), "image/tiff"],
  ];
  for (const [head, mimeType] of files) {
    const sniffed = sniffImage(head);
    assert.deepEqual([sniffed.kind, sniffed.kind !== "unknown" && sniffed.mimeType], ["accepted", mimeType]);
  }
});

test("a recognised but unaccepted type is refused with advice", () => {
  const files: [Buffer, string][] = [
    [isoFile("msf1", "hevc"), "image/heic-sequence"],
    [bytes("BM\x10\0"), "image/bmp"],
    [bytes("%PDF-1.7"), "application/pdf"],
    [bytes("%!PS-Adobe"), "application/postscript"],
    [bytes("8BPS\0\x01"), "image/vnd.adobe.photoshop"],
    [bytes("\xff\x0a\xfa"), "image/jxl"],
    [bytes("\0\0\0\x0cjP  \r\n"), "image/jp2"],
    [bytes("\0\0\x01\0\x01\0"), "image/x-icon"],
    [isoFile("avis", "msf1", "avif"), "image/avif-sequence"],
    [bytes("P6 1 1 255 abc"), "image/x-portable-anymap"],
    [bytes("P3\n# made by hand"), "image/x-portable-anymap"],
    [bytes("qoif\0\0\0\x01"), "image/qoi"],
    [bytes("#?RADIANCE\n"), "image/vnd.radiance"],
    [bytes("\x76\x2f\x31\x01\x02"), "image/x-exr"],
    [bytes("SIMPLE  =                    T"), "image/fits"],
    [bytes(`${"\0".repeat(128)}DICM`), "application/dicom"],
    [bytes("\0\0\x02\0\0\0\0\0\0\0\0\0\x10\0\x10\0\x18\x20"), "image/x-tga"],
    [bytes("\0\x01\x01\0\0\0\x01\x18\0\0\0\0\x10\0\x10\0\x08\0"), "image/x-tga"],
    [isoFile("isom", "mp42"), "video/mp4"],
    [isoFile("qt  "), "video/mp4"],
    [bytes("\x1a\x45\xdf\xa3"), "video/webm"],
    [bytes("II*\0\x10\0\0\0CR\x02"), "image/x-canon-cr2"],
  ];
  for (const [head, mimeType] of files) {
    const sniffed = sniffImage(head);
    assert.equal(sniffed.kind, "refused", mimeType);
    assert.equal(sniffed.kind === "refused" && sniffed.mimeType, mimeType);
    assert.match(sniffed.kind === "refused" ? sniffed.advice : "", /not accepted/);
  }
});

test("SVG is recognised after declarations, comments, document types, a byte order mark or a prefix", () => {
  const texts = [
    "<svg xmlns='x'/>",
    "\ufeff  <?xml version='1.0'?>\n<!-- c --><svg>",
    "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'x'><svg width='1'>",
    "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg>",
    "<svg:svg xmlns:svg='x'>",
  ];
  for (const text of texts) assert.equal(sniffImage(Buffer.from(text)).kind, "refused", text);
  assert.equal(sniffImage(Buffer.from("\ufeff<svg/>", "utf16le")).kind, "refused");
});

test("anything else is unknown: text, HTML, archives, programs, too few bytes", () => {
  const files = [
    "",
    "a",
    "hello world",
    "<html><svg/></html>",
    "PK\x03\x04",
    "\x7fELF",
    "RIFF\0\0\0\0WAVE",
    "GIF88a",
    "\xff\xd8",
  ];
  for (const file of files) assert.equal(sniffImage(Buffer.from(file, "latin1")).kind, "unknown", file);
  assert.equal(sniffImage(isoFile("xxxx")).kind, "unknown");
});
