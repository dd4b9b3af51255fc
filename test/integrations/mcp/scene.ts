import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { address } from '../../support/order-body.ts';
import { errand, type Finished } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';
import { Agent } from './agent.ts';
import type { ClientLine } from './client-lines.ts';
import { GoBetween } from './go-between.ts';

const liveKey = 'acme_live_00000000000000000000000000000000';

type Options = NonNullable<Parameters<typeof Agent.start>[1]>;

/** The service, machine and policy of one dialogue. */
export class Scene {
  readonly service: TestService;
  readonly between: GoBetween;
  readonly workspace: Workspace;
  readonly line: ClientLine;

  private constructor(service: TestService, between: GoBetween, workspace: Workspace, line: ClientLine) {
    this.service = service;
    this.between = between;
    this.workspace = workspace;
    this.line = line;
  }

  static async begin(
    line: ClientLine,
    { policy, walletCents }: { readonly policy?: string; readonly walletCents?: number },
  ): Promise<Scene> {
    const config = walletCents === undefined ? {} : { config: { startBalanceCents: walletCents } };
    const service = await TestService.start({ now: Date.now(), ...config });
    const between = await GoBetween.start(service.baseUrl, service.key);
    const workspace = makeWorkspace(
      { ERRAND_NO_INPUT: '1', ERRAND_BASE_URL: between.url, ERRAND_API_KEY: service.key },
      { oddService: true },
    );
    const scene = new Scene(service, between, workspace, line);
    if (policy !== undefined) scene.policy(policy);
    return scene;
  }

  /** Writes the policy file. */
  policy(text: string): void {
    mkdirSync(join(this.workspace.folder, '.config'), { recursive: true, mode: 0o700 });
    writeFileSync(this.policyFile, `version: 1\n${text}\n`, { mode: 0o600 });
  }

  dropPolicy(): void {
    rmSync(this.policyFile);
  }

  get policyFile(): string {
    return join(this.workspace.folder, '.config', 'policy.yaml');
  }

  agent(options: Options = {}): Promise<Agent> {
    return Agent.start(this.workspace, { line: this.line, ...options });
  }

  /** Starts an agent with `--live`. */
  liveAgent(options: Options = {}): Promise<Agent> {
    return this.agent({ args: ['--live'], environment: { ERRAND_API_KEY: liveKey }, ...options });
  }

  run(args: readonly string[], environment: Record<string, string> = {}): Promise<Finished> {
    const { workspace } = this;
    return errand({ ...workspace, environment: { ...workspace.environment, ...environment } }, args);
  }

  /** Runs errand with a live key. */
  runLive = (args: readonly string[]): Promise<Finished> => this.run(args, { ERRAND_API_KEY: liveKey });

  /** Arguments of order_quote for an order with this ceiling, in cents. */
  order(max_price = 5000, more: object = {}, slug = 'test-success') {
    return { products: [{ url: this.service.product(slug) }], shipping_address: address, max_price, ...more };
  }

  /** Differs from other orders by its recipient. */
  orderFor(recipient: string, max_price = 5000) {
    return this.order(max_price, { shipping_address: { ...address, first_name: recipient } });
  }

  /** Quotes an order. @returns the quote's handle. */
  async quote(agent: Agent, ...given: Parameters<Scene['order']>): Promise<string> {
    return (await agent.get('order_quote', this.order(...given))).quote;
  }

  /** Waits for a request to have reached the service. */
  async reached(line: string): Promise<void> {
    await expect.poll(() => this.between.seen.get(line) ?? 0).toBeGreaterThan(0);
  }

  async orders(): Promise<{ readonly id: string; readonly max_price: number; readonly status: string }[]> {
    return (await this.service.send('GET', '/orders')).body.orders;
  }

  async end(): Promise<void> {
    this.between.stop();
    await this.service.stop();
    this.workspace.remove();
  }
}
