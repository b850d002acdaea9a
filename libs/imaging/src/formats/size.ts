export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A point in fractions of width and height, from the top left. */
export interface FocalPoint {
  readonly x: number;
  readonly y: number;
}
