import { expect, it } from 'vitest';
import { kafkaUsers } from './kafka.ts';
import { mongodbUsers } from './mongodb.ts';
import { at, listAt } from './rendered.ts';

const rolesOf = (name: string): readonly string[] => {
  const user = listAt(mongodbUsers(), 'spec.users').find((one) => one['name'] === name);
  return listAt(user, 'roles').map((role) => `${String(role['name'])} ${String(role['db'])}`);
};

const aclsOf = (name: string): readonly string[] => {
  const user = kafkaUsers().find((one) => at(one, 'metadata.name') === name);
  return listAt(user, 'spec.authorization.acls').map(
    ({ resource, operations }) => `${String(at(resource, 'name'))} ${String(operations)}`,
  );
};

it('a service has the rights that it is declared to use, and no other', () => {
  expect(aclsOf('webhook-ingress')).toEqual(['rails.callbacks.v1 Describe,DescribeConfigs,Write']);
  expect(aclsOf('collection-gateway')).toEqual([
    'rails.collection-facts.v1 Describe,DescribeConfigs,Read',
    'collections.events.v1 Describe,DescribeConfigs,Write',
    'rails.availability.v1 Describe,DescribeConfigs,Write',
    'collection-gateway Describe,Read',
  ]);
  expect(rolesOf('ledger')).toEqual(['readWrite ledger', 'readWrite directory', 'startChecks admin']);
});

it('what prepares reads no payments, people write nothing, and the backup alone is for every database', () => {
  expect(rolesOf('prepare').filter((role) => !role.startsWith('dbAdmin '))).toEqual(['readWrite directory']);
  expect(aclsOf('prepare').filter((acl) => !acl.endsWith(' Create,Describe,DescribeConfigs'))).toEqual([]);
  expect(rolesOf('operators').filter((role) => !role.startsWith('read '))).toEqual([]);
  expect(rolesOf('backup')).toEqual(['backup admin']);
});
