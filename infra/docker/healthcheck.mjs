/** Ends with 0 when the service of this container is ready for work. */
const base = `http://127.0.0.1:${process.env.SIGNALBOX_MANAGEMENT_SERVER_PORT ?? 8081}`;
const answer = await fetch(`${base}/management/health/ready`).catch(() => null);
process.exitCode = answer?.ok ? 0 : 1;
