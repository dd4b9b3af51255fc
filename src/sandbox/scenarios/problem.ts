/** What is wrong with a scenario, and where: `['orders', 0, 'state']`. */
export interface ScenarioProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** A scenario that cannot be played. */
export class ScenarioRefused extends Error {
  override readonly name = 'ScenarioRefused';
  readonly problems: readonly ScenarioProblem[];

  constructor(problems: readonly ScenarioProblem[]) {
    super('the scenario cannot be played');
    this.problems = problems;
  }
}

/** A sandbox that a scenario cannot begin in: somebody has used it. */
export class NotEmpty extends Error {
  override readonly name = 'NotEmpty';

  constructor() {
    super('the sandbox has keys and orders already');
  }
}
