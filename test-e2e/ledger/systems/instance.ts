import { setTimeout as sleep } from "node:timers/promises";
import { startProcess, type TestProcess } from "@signalbox/testing";

/** The command of a process, and its addresses. */
export interface Program {
  /** `account-2`, or `everything`. */
  readonly name: string;
  /** Name of the service, or `embedded`. */
  readonly service: string;
  readonly script: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly url: string;
  readonly managementUrl: string;
}

/** Seven services may start at once, on two shared cores. */
const readyMs = 180_000;
const keptCharacters = 400_000;

/** One process of the system, and all that can be done to it from outside. */
export class Instance {
  readonly program: Program;
  #process: TestProcess;
  #earlier = "";

  constructor(program: Program) {
    this.program = program;
    this.#process = this.#spawn({});
  }

  get name(): string {
    return this.program.name;
  }

  get pid(): number {
    return this.#process.pid;
  }

  get isRunning(): boolean {
    return this.#process.isRunning;
  }

  /** Its output, including earlier runs. */
  get output(): string {
    return (this.#earlier + this.#process.stdout + this.#process.stderr).slice(-keptCharacters);
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.signal(signal);
  }

  async kill(): Promise<void> {
    await this.#process.kill();
  }

  /** Asks it to stop in order and returns its exit code. */
  async stop(): Promise<number | null> {
    this.signal("SIGTERM");
    return (await this.#process.exited).code;
  }

  /** Starts it again after its end, without waiting for it. `environment` overrides its own, for this run alone. */
  async launch(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.#process.exited;
    this.#earlier = `${this.output}\n--- started again ---\n`;
    this.#process = this.#spawn(environment);
  }

  async start(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.launch(environment);
    await this.ready();
  }

  /** Waits until it is ready; fails with its output when it ends first. */
  async ready(): Promise<void> {
    const giveUpAt = performance.now() + readyMs;
    while (!(await this.#isReady())) {
      if (!this.isRunning || performance.now() > giveUpAt) {
        throw new Error(`${this.name} ${this.isRunning ? "is not ready" : "ended"}:\n${this.output.slice(-8_000)}`);
      }
      await sleep(50);
    }
  }

  async #isReady(): Promise<boolean> {
    const signal = AbortSignal.timeout(2_000);
    const answer = await fetch(`${this.program.managementUrl}/management/health/ready`, { signal }).catch(() => null);
    await answer?.bytes().catch(() => null);
    return answer?.status === 200;
  }

  #spawn(environment: Readonly<Record<string, string>>): TestProcess {
    const { script, args } = this.program;
    return startProcess(script, args, { ...this.program.environment, ...environment }, { ownGroup: true });
  }
}
