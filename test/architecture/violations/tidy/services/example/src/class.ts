export class Manager {}
export class RefusedError extends Error {}
