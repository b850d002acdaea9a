/** Bytes as they can be shown: the text that they are, or base 64 for what is no text. */
export interface BodyText {
  readonly text: string;
  readonly isText: boolean;
}

/** Reads bytes as the text that they are, also where it was cut inside its last character. */
export function textOfBytes(bytes: Uint8Array): BodyText {
  try {
    // As a stream it waits for the rest of a character, which never comes.
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true }), isText: true };
  } catch {
    return { text: base64Of(bytes), isText: false };
  }
}

/** Pieces that are few enough to be arguments, and whole groups of three bytes. */
const pieceBytes = 24_576;

function base64Of(bytes: Uint8Array): string {
  const pieces = [];
  for (let at = 0; at < bytes.length; at += pieceBytes)
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + pieceBytes))));
  return pieces.join("");
}

/** Shows bytes that the API sends in base 64. */
export function textOfBase64(text: string): BodyText {
  return textOfBytes(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
}
