/**
 * The fields a message must have, by the name `typeof` has for what they hold; a number is finite. More fields are a newer
 * version's.
 */
export type Shape = Readonly<Record<string, 'string' | 'number' | 'object'>>;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

export const has = (value: unknown, shape: Shape): value is Record<string, unknown> =>
  isObject(value) &&
  Object.entries(shape).every(([field, type]) => {
    const one = value[field];
    return typeof one === type && one !== null && (type !== 'number' || Number.isFinite(one));
  });
