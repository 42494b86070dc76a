// The item that is looked at. Its neighbours are asked for along with it, so that the keys that go to them never wait.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { type ItemsFilter, itemQuery } from '../../../api/queries';

/** `key` is empty where none is looked at. */
export function useItem(id: string, key: string, choice: ItemsFilter) {
  const client = useQueryClient();
  const item = useQuery({ ...itemQuery(id, key, choice), enabled: key !== '' });
  const { previous, next } = item.data ?? {};
  useEffect(() => {
    for (const neighbour of [next, previous]) {
      if (neighbour != null) void client.prefetchQuery(itemQuery(id, neighbour, choice));
    }
  }, [client, id, choice, next, previous]);
  return item;
}
