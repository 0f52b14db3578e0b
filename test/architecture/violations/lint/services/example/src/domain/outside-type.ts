import type { Db } from 'mongodb';

export type Store = Db;
