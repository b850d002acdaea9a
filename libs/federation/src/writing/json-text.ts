/** Number of pieces that are joined at once: the list stays small, and a text of few long parts is fast to read. */
const piecesMax = 512;

/**
 * JSON text under construction. Pieces stay separate until there are many: joined one by one, each would cost an object
 * of its own. A part that turns out to be null is cut off again.
 */
export class JsonText {
  /** Length in characters. */
  length = 0;
  #joined = "";
  /** Only the first `#count` are valid; those behind were joined or cut off. */
  readonly #pieces: string[] = [];
  #count = 0;

  add(piece: string): void {
    if (this.#count === piecesMax) this.#join();
    this.#pieces[this.#count++] = piece;
    this.length += piece.length;
  }

  /** Cuts the text back to this length. */
  cut(length: number): void {
    while (this.length > length && this.#count > 0) this.length -= this.#pieces[--this.#count]?.length ?? 0;
    if (this.length > length) this.#joined = this.#joined.slice(0, length);
    this.length = length;
  }

  toString(): string {
    this.#join();
    return this.#joined;
  }

  #join(): void {
    this.#joined += this.#pieces.slice(0, this.#count).join("");
    this.#count = 0;
  }
}
