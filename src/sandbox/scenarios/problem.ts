/** A problem in a scenario and its path, such as `['orders', 0, 'state']`. */
export interface ScenarioProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** The scenario is invalid or cannot be run. */
export class ScenarioRefused extends Error {
  override readonly name = 'ScenarioRefused';
  readonly problems: readonly ScenarioProblem[];

  constructor(problems: readonly ScenarioProblem[]) {
    super('the scenario cannot be played');
    this.problems = problems;
  }
}

/** No scenario can be loaded into the sandbox, because the sandbox has been used. */
export class NotEmpty extends Error {
  override readonly name = 'NotEmpty';

  constructor() {
    super('the sandbox has keys and orders already');
  }
}
