/** The body of a request, which its page and its server make for themselves: it would be the most of what they are told. */
export const requestBody = (id: string, bytes: number): string => `${id}:${'x'.repeat(bytes)}`;
