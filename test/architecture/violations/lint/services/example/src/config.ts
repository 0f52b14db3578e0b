// The one place where the environment may be read.
export const port = process.env['PORT'];
