export const home = '/home/somebody/pesewa';
export const url = 'https://example.com/work/home/somebody/';
export const scratch = '/tmp/pesewa';
