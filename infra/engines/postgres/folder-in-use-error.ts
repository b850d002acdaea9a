/** A living process uses the folder of this PostgreSQL. */
export class FolderInUseError extends Error {
  override readonly name = "FolderInUseError";
  readonly pid: number;

  constructor(folder: string, pid: number) {
    super(`the PostgreSQL in ${folder} is in use by the process ${pid}; stop that one first`);
    this.pid = pid;
  }
}
