/** A batch that would be larger than allowed once decompressed. */
export class BatchTooLarge extends Error {
  override readonly name = "BatchTooLarge";
}

/**
 * Decompresses the records of one batch.
 * @throws BatchTooLarge before it has made much more than `bytesMax` of them
 */
export type Decode = (compressed: Buffer, bytesMax: number) => Promise<Buffer>;

export const tooManyBytes = (bytesMax: number, options?: ErrorOptions): BatchTooLarge =>
  new BatchTooLarge(`decompressed it has more than ${bytesMax} bytes`, options);
