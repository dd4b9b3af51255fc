/** How long a plan can be applied, ms. */
export const planLifeMs = 24 * 3600 * 1000;
