import type { Chunk, ChunkKind, Job, JobQueue } from '../../journal/postgres/queue.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { inFlight, Window } from '../upload/concurrency-limiter.ts';
import type { SharedPace } from './pace.ts';

/** Maximum number of chunks that a worker processes concurrently. */
const maxInFlight = 4;
/** Interval in ms between checks for chunks that other workers may release. */
const pauseMs = 200;
/** How long to set aside a chunk that cannot be processed now, in ms. */
const asideMs = 1_500;
/** A worker gives up after this number of consecutive chunks that the service rejects with 429 (too many requests). */
const maxRefused = 12;
const tooMany = 429;

/** A worker of a shared upload, with its queue and request budget. */
export class Team {
  readonly context: Context;
  readonly queue: JobQueue;
  readonly pace: SharedPace;
  readonly job: Job;
  readonly #inHand = new Map<ChunkKind, Set<number>>();
  readonly #window = new Window(maxInFlight);
  #hasFailed = false;
  #refused = 0;

  constructor(context: Context, queue: JobQueue, pace: SharedPace, job: Job) {
    this.context = context;
    this.queue = queue;
    this.pace = pace;
    this.job = job;
  }

  /**
   * Processes chunks of one kind concurrently and yields each result. @param waits tells whether more chunks may still
   * arrive. It is called when no chunk is available. @param isTaken tells whether a chunk failed because another worker
   * still holds it. Such a chunk is set aside and retried later.
   */
  async *work<R>(
    kind: ChunkKind,
    work: (chunk: Chunk) => Promise<R>,
    {
      waits,
      isTaken = async () => false,
    }: {
      readonly waits: () => Promise<boolean>;
      readonly isTaken?: (chunk: Chunk, error: ErrandError) => Promise<boolean>;
    },
  ): AsyncGenerator<R> {
    const inHand = new Set<number>();
    this.#inHand.set(kind, inHand);
    const { clock, signal } = this.context;
    const tried = async (chunk: Chunk): Promise<{ readonly result?: R }> => {
      try {
        await this.pace.ready(signal);
        const result = await work(chunk);
        this.#refused = 0;
        return { result };
      } catch (error) {
        let isAside = false;
        try {
          isAside = await this.#setAside(chunk, error, isTaken);
        } finally {
          if (!isAside) this.#hasFailed = true;
        }
        if (isAside) return {};
        throw this.pace.failure ?? error;
      } finally {
        inHand.delete(chunk.place);
      }
    };
    const working = inFlight(this.#chunks(kind, inHand, waits), tried, {
      window: this.#window,
      now: clock.monotonic,
    });
    for await (const done of working) if ('result' in done) yield done.result as R;
  }

  async *#chunks(kind: ChunkKind, inHand: Set<number>, waits: () => Promise<boolean>): AsyncGenerator<Chunk> {
    const { clock, signal } = this.context;
    while (!this.#hasFailed) {
      signal.throwIfAborted();
      const chunk = await this.queue.take(this.job, kind, [...inHand]);
      if (chunk) {
        inHand.add(chunk.place);
        yield chunk;
      } else if (inHand.size > 0 || (await waits())) await clock.sleep(pauseMs, signal);
      else return;
    }
  }

  async #setAside(
    chunk: Chunk,
    error: unknown,
    isTaken: (chunk: Chunk, error: ErrandError) => Promise<boolean>,
  ): Promise<boolean> {
    const { signal } = this.context;
    if (!(error instanceof ErrandError) || signal.aborted || this.pace.failure) return false;
    const isRefused = error.facts.status === tooMany;
    if (isRefused) this.#refused += 1;
    if (isRefused ? this.#refused >= maxRefused : !(await isTaken(chunk, error))) return false;
    await this.queue.setAside(this.job, chunk, asideMs);
    return true;
  }
}
