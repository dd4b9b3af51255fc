import type { ProductCondition } from '../../../api/enums.ts';

export type Conditions = readonly ProductCondition[];

/** Nobody resells what is eaten or worn. */
export const newOnly: Conditions = [];
export const used: Conditions = ['UsedLikeNew', 'UsedVeryGood', 'UsedGood', 'UsedAcceptable'];
export const refurbished: Conditions = ['Refurbished', 'UsedLikeNew', 'UsedGood'];
