# in this folder; README.md says what they need
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T15:07:10.442Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T15:07:21.995Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T15:08:12.461Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T15:08:55.762Z --output ../repeated
iotbench query --config config.yaml --target influxdb1 --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T15:09:02.161Z --output ../repeated
iotbench query --config config.yaml --target influxdb1 --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T15:09:08.274Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T15:09:56.589Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T15:10:47.234Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T15:10:59.236Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T15:11:12.034Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T15:11:24.727Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T15:11:37.948Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-27T15:11:50.754Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-27T15:12:00.263Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-27T15:12:09.977Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-27T15:12:19.758Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-27T15:12:29.454Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-27T15:13:24.057Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-27T15:14:16.413Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --num-inserts 500000 --batch 30000 --timeout 600s --start-time 2026-11-27T15:15:08.422Z --output ../repeated
iotbench query --config config.yaml --target influxdb1 --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --num-inserts 500000 --batch 30000 --timeout 600s --start-time 2026-11-27T15:15:12.318Z --output ../repeated
iotbench query --config config.yaml --target influxdb1 --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-27T15:15:16.259Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-27T15:16:08.343Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-27T15:17:00.921Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-27T15:17:53.265Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T15:18:45.790Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T15:19:37.850Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T15:20:21.166Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T15:27:38.678Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T15:27:49.351Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T15:28:49.429Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T15:29:33.168Z --output ../repeated
iotbench query --config config.yaml --target mysql_myisam --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T15:29:48.842Z --output ../repeated
iotbench query --config config.yaml --target mysql_myisam --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T15:30:05.205Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T15:30:51.145Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T15:31:51.291Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T15:32:02.333Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T15:32:13.434Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T15:32:24.560Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T15:32:35.856Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T15:41:54.078Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T16:45:03.446Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T16:45:20.294Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T16:46:09.946Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T16:46:54.956Z --output ../repeated
iotbench query --config config.yaml --target opensearch --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T16:47:06.405Z --output ../repeated
iotbench query --config config.yaml --target opensearch --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T16:47:16.251Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T16:48:02.327Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T16:48:51.595Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T16:49:06.253Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T16:49:22.396Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T16:49:37.012Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T16:49:52.566Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-27T16:50:08.238Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-27T16:50:23.952Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-27T16:50:39.857Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-27T16:50:55.938Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-27T16:51:11.816Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-27T16:52:02.444Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-27T16:52:53.793Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --num-inserts 500000 --batch 30000 --timeout 600s --start-time 2026-11-27T16:53:45.607Z --output ../repeated
iotbench query --config config.yaml --target opensearch --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --num-inserts 500000 --batch 30000 --timeout 600s --start-time 2026-11-27T16:53:53.284Z --output ../repeated
iotbench query --config config.yaml --target opensearch --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-27T16:54:01.341Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-27T16:54:53.349Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-27T16:55:45.137Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-27T16:56:35.977Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T16:57:27.663Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T16:58:16.031Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-27T16:59:03.405Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-27T16:59:56.905Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-27T17:00:50.001Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-27T17:01:45.801Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-27T17:02:37.574Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-27T17:03:29.704Z --output ../repeated
iotbench insert --config config.yaml --target opensearch --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-27T17:04:21.410Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T18:39:36.147Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T18:39:51.340Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T18:41:23.031Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T18:42:08.945Z --output ../repeated
iotbench query --config config.yaml --target cassandra_sync --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T18:42:27.382Z --output ../repeated
iotbench query --config config.yaml --target cassandra_sync --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T18:42:45.490Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T18:43:33.264Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T18:45:11.757Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T18:45:27.985Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T18:45:43.800Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T18:59:35.731Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T19:01:23.873Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T19:19:33.816Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T19:21:33.475Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T19:33:53.560Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T19:34:08.253Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T19:35:15.649Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T19:36:00.207Z --output ../repeated
iotbench query --config config.yaml --target mongodb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T19:36:14.604Z --output ../repeated
iotbench query --config config.yaml --target mongodb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T19:36:29.258Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T19:37:12.755Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T19:39:10.030Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T19:39:22.973Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T19:39:35.904Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T19:39:48.385Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T19:40:04.902Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-27T19:40:18.046Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-27T19:40:30.723Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T19:40:43.463Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T19:41:54.284Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T19:43:16.032Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --num-inserts 500000 --batch 10000 --timeout 600s --start-time 2026-11-27T19:45:36.232Z --output ../repeated
iotbench query --config config.yaml --target mongodb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --num-inserts 500000 --batch 10000 --timeout 600s --start-time 2026-11-27T19:45:47.589Z --output ../repeated
iotbench query --config config.yaml --target mongodb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T19:45:57.168Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T19:47:12.153Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T19:50:12.230Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T19:52:38.699Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T19:53:49.820Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T20:04:21.052Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T20:05:40.332Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T20:07:45.708Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T20:08:29.649Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T20:09:13.011Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T20:10:25.072Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T20:11:39.204Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T20:14:29.119Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T20:15:49.356Z --output ../repeated
iotbench insert --config config.yaml --target mongodb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T20:17:47.715Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T20:20:05.147Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T20:20:13.276Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T20:20:58.689Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T20:21:42.415Z --output ../repeated
iotbench query --config config.yaml --target postgresql_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T20:21:47.048Z --output ../repeated
iotbench query --config config.yaml --target postgresql_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T20:21:51.751Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T20:22:36.083Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T20:23:21.575Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T20:23:30.168Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T20:23:38.562Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T20:23:47.014Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T20:23:55.513Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-27T20:24:04.086Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-27T20:24:12.668Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T20:32:00.373Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T20:32:45.156Z --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T20:38:41.506Z --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T20:38:57.263Z --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T20:40:02.749Z --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T20:40:50.875Z --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T20:41:41.020Z --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T20:42:57.225Z --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T20:43:12.943Z --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T20:43:28.099Z --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T20:43:44.638Z --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T20:44:02.343Z --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T20:54:13.989Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T20:59:10.628Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T20:59:22.064Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T21:00:08.122Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T21:00:51.379Z --output ../repeated
iotbench query --config config.yaml --target mysql_innodb_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T21:01:00.706Z --output ../repeated
iotbench query --config config.yaml --target mysql_innodb_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T21:01:10.258Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T21:01:54.529Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T21:02:40.578Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T21:02:52.342Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T21:03:00.726Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T21:03:09.061Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T21:03:17.484Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T21:10:19.195Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T21:11:05.280Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T21:18:35.661Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T21:18:45.661Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T21:19:40.264Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T21:20:24.696Z --output ../repeated
iotbench query --config config.yaml --target timescaledb_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T21:20:29.945Z --output ../repeated
iotbench query --config config.yaml --target timescaledb_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T21:20:35.246Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T21:21:22.673Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T21:22:27.216Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T21:22:37.821Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T21:22:47.874Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T21:22:59.431Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T21:23:09.686Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-27T21:23:20.118Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-27T21:23:30.431Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-27T21:23:40.964Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-27T21:23:51.497Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-27T21:24:02.071Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-27T21:24:58.348Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-27T21:25:57.495Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-27T21:26:56.289Z --output ../repeated
iotbench query --config config.yaml --target timescaledb_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-27T21:27:01.660Z --output ../repeated
iotbench query --config config.yaml --target timescaledb_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-27T21:27:05.311Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-27T21:28:08.417Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-27T21:29:32.404Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-27T22:18:34.214Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-27T22:19:28.719Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-27T22:20:47.268Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T22:21:44.933Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T22:22:41.911Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-27T22:23:32.293Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-27T22:24:32.712Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-27T22:25:43.439Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-27T22:26:40.979Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-27T22:27:37.933Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-27T22:28:36.684Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T22:30:59.202Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T22:31:08.742Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T22:32:04.153Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T22:33:02.437Z --output ../repeated
iotbench query --config config.yaml --target opentsdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T22:33:20.861Z --output ../repeated
iotbench query --config config.yaml --target opentsdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T22:33:42.418Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T22:34:29.609Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T22:35:20.409Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T22:35:42.705Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T22:36:10.037Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T22:36:38.050Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T22:37:10.193Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-27T22:38:28.459Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T22:38:47.265Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T22:39:56.677Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T22:41:37.681Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --num-inserts 500000 --batch 10000 --timeout 600s --start-time 2026-11-27T22:43:21.241Z --output ../repeated
iotbench query --config config.yaml --target opentsdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --num-inserts 500000 --batch 10000 --timeout 600s --start-time 2026-11-27T22:47:55.824Z --output ../repeated
iotbench query --config config.yaml --target opentsdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:00:22.889Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:01:58.856Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:03:44.185Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:05:31.850Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:07:15.167Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T23:08:54.152Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T23:10:32.116Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:12:10.140Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:13:57.631Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:15:44.132Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T23:19:29.956Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T23:19:39.773Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T23:20:37.347Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T23:21:21.264Z --output ../repeated
iotbench query --config config.yaml --target iotdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T23:21:27.964Z --output ../repeated
iotbench query --config config.yaml --target iotdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T23:21:33.863Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T23:22:28.700Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T23:23:45.979Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T23:23:57.269Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T23:24:08.535Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T23:24:20.138Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-27T23:24:31.857Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-27T23:24:43.298Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:24:54.922Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:25:57.295Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:27:03.358Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --num-inserts 500000 --batch 10000 --timeout 600s --start-time 2026-11-27T23:28:08.865Z --output ../repeated
iotbench query --config config.yaml --target iotdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --num-inserts 500000 --batch 10000 --timeout 600s --start-time 2026-11-27T23:28:12.677Z --output ../repeated
iotbench query --config config.yaml --target iotdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:28:16.257Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:29:21.445Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:30:24.435Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:31:28.066Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:32:33.412Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:33:38.371Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T23:34:43.298Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T23:35:40.845Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T23:36:25.264Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T23:37:10.031Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:38:09.257Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T23:39:13.220Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T23:40:09.361Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-27T23:43:19.072Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:43:32.375Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:44:42.437Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:46:31.716Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-27T23:48:41.853Z --output ../repeated
iotbench insert --config config.yaml --target iotdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T23:51:39.704Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T23:52:03.153Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T23:52:11.629Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T23:52:59.389Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T23:53:43.390Z --output ../repeated
iotbench query --config config.yaml --target mariadb_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-27T23:53:50.779Z --output ../repeated
iotbench query --config config.yaml --target mariadb_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-27T23:53:58.051Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-27T23:54:41.972Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-27T23:55:29.902Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T23:55:38.530Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-27T23:55:47.240Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T23:55:55.954Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-27T23:56:04.704Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-27T23:56:13.469Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-27T23:56:22.320Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-27T23:56:31.175Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-27T23:56:40.060Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-27T23:56:49.106Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-27T23:57:38.508Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-27T23:58:28.088Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-27T23:59:19.076Z --output ../repeated
iotbench query --config config.yaml --target mariadb_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-27T23:59:29.816Z --output ../repeated
iotbench query --config config.yaml --target mariadb_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-27T23:59:40.197Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:00:30.070Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:01:19.721Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:02:09.062Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:02:58.780Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T00:03:48.676Z --output ../repeated
iotbench insert --config config.yaml --target mariadb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T00:04:36.677Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T00:06:15.618Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T00:06:26.210Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T00:07:25.795Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T00:08:09.672Z --output ../repeated
iotbench query --config config.yaml --target mysql_myisam_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T00:08:25.450Z --output ../repeated
iotbench query --config config.yaml --target mysql_myisam_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T00:08:41.185Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T00:09:25.071Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T00:10:24.325Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T00:10:35.274Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T00:10:46.279Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T00:10:57.277Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T00:11:08.501Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T00:11:19.762Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T00:11:31.261Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T00:11:42.645Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T00:11:54.163Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:12:05.619Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:13:08.744Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:14:14.625Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T00:15:18.210Z --output ../repeated
iotbench query --config config.yaml --target mysql_myisam_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T00:15:41.467Z --output ../repeated
iotbench query --config config.yaml --target mysql_myisam_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:16:05.236Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:17:11.277Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:18:17.805Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:19:21.897Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:20:26.966Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T00:21:32.274Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T00:26:47.982Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T00:26:59.237Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T00:27:52.299Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T00:28:35.688Z --output ../repeated
iotbench query --config config.yaml --target influxdb1_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T00:28:42.094Z --output ../repeated
iotbench query --config config.yaml --target influxdb1_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T00:28:48.437Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T00:29:31.748Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T00:30:22.182Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T00:30:33.742Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T00:30:45.732Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T00:30:57.643Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T00:31:09.891Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T00:31:22.382Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T00:31:35.122Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T00:31:47.775Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T00:32:00.682Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:32:13.703Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:33:05.689Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:33:57.956Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T00:34:49.685Z --output ../repeated
iotbench query --config config.yaml --target influxdb1_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T00:34:53.602Z --output ../repeated
iotbench query --config config.yaml --target influxdb1_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:34:57.412Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:35:50.425Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:36:42.817Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T00:37:34.699Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T00:38:25.069Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T00:39:08.412Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T00:40:06.654Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T00:40:16.516Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T00:41:00.452Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T00:41:43.754Z --output ../repeated
iotbench query --config config.yaml --target influxdb_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T00:41:54.456Z --output ../repeated
iotbench query --config config.yaml --target influxdb_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T00:42:04.792Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T00:42:56.115Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T00:43:40.121Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T00:43:50.121Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T00:44:00.152Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T00:44:10.238Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T00:44:20.663Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T00:44:31.037Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T00:44:41.480Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T00:44:52.128Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T00:45:02.691Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:45:13.498Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:45:57.816Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:46:42.616Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T00:47:29.589Z --output ../repeated
iotbench query --config config.yaml --target influxdb_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T00:47:33.376Z --output ../repeated
iotbench query --config config.yaml --target influxdb_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:47:37.275Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:48:23.177Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:49:08.010Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:49:52.345Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:50:37.101Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T00:51:21.712Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T00:52:06.843Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T00:52:50.232Z --output ../repeated
iotbench insert --config config.yaml --target influxdb_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T00:53:34.417Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T01:45:22.306Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T01:45:36.029Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T01:47:37.277Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T01:48:22.500Z --output ../repeated
iotbench query --config config.yaml --target cassandra_sync_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T01:48:37.939Z --output ../repeated
iotbench query --config config.yaml --target cassandra_sync_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T01:48:53.268Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T01:49:38.383Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T01:51:25.701Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T01:51:39.653Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T01:51:53.344Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T02:08:32.176Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T02:10:34.289Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T02:11:19.186Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T02:12:05.018Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T02:17:40.996Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T02:19:44.705Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T02:20:31.614Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T02:30:29.681Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T02:30:47.084Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T02:31:40.717Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T02:32:35.504Z --output ../repeated
iotbench query --config config.yaml --target opensearch_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T02:32:48.921Z --output ../repeated
iotbench query --config config.yaml --target opensearch_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T02:32:59.103Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T02:33:44.528Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T02:34:35.994Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T02:34:51.862Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T02:35:08.045Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T02:35:24.604Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T02:35:40.804Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T02:42:50.324Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T02:43:51.806Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T02:44:37.798Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T02:45:23.273Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T02:47:11.125Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T02:48:20.095Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T02:49:06.314Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T02:49:52.405Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T02:50:49.996Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T02:51:40.767Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T03:04:08.458Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T03:04:24.352Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T03:05:17.949Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T03:06:04.081Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T03:06:14.474Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T03:06:23.984Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T03:07:09.393Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T03:08:06.499Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T03:08:22.595Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T03:08:39.410Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T03:08:56.548Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T03:09:13.664Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 3000 --timeout 600s --start-time 2026-11-28T03:09:30.596Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 3000 --timeout 600s --start-time 2026-11-28T03:10:25.063Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 3000 --timeout 600s --start-time 2026-11-28T03:11:21.415Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --num-inserts 500000 --batch 3000 --timeout 600s --start-time 2026-11-28T03:12:17.513Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --num-inserts 500000 --batch 3000 --timeout 600s --start-time 2026-11-28T03:12:26.413Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 3000 --timeout 600s --start-time 2026-11-28T03:12:35.206Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 3000 --timeout 600s --start-time 2026-11-28T03:13:35.761Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 3000 --timeout 600s --start-time 2026-11-28T03:14:32.724Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 3000 --timeout 600s --start-time 2026-11-28T03:15:26.241Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 3000 --timeout 600s --start-time 2026-11-28T03:16:20.649Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T03:17:19.916Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T03:18:15.929Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 3000 --timeout 600s --start-time 2026-11-28T03:19:13.027Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 3000 --timeout 600s --start-time 2026-11-28T03:20:10.897Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 3000 --timeout 600s --start-time 2026-11-28T03:21:05.100Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T03:21:59.213Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 3000 --timeout 600s --start-time 2026-11-28T03:22:52.310Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T03:31:46.154Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T03:31:56.015Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T03:32:41.029Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T03:33:24.338Z --output ../repeated
iotbench query --config config.yaml --target influxdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T03:33:34.121Z --output ../repeated
iotbench query --config config.yaml --target influxdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T03:33:43.926Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T03:34:27.214Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T03:35:12.309Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T03:35:22.575Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T03:35:33.001Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T03:35:43.417Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T03:35:54.229Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T03:36:04.894Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T03:36:15.672Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T03:41:02.658Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T03:41:46.814Z --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T04:23:11.859Z --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T04:23:20.705Z --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T04:24:10.122Z --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T04:24:56.235Z --output ../repeated
iotbench query --config config.yaml --target mariadb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T04:25:03.612Z --output ../repeated
iotbench query --config config.yaml --target mariadb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T04:25:10.908Z --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T04:25:54.878Z --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T04:26:44.243Z --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T04:26:53.315Z --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T04:27:02.322Z --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T04:27:11.330Z --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T04:27:20.384Z --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T04:27:29.464Z --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T04:27:38.619Z --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T04:27:47.839Z --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T04:27:57.112Z --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T04:28:06.500Z --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T04:28:57.451Z --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T04:29:48.568Z --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T04:30:40.310Z --output ../repeated
iotbench query --config config.yaml --target mariadb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T04:30:51.295Z --output ../repeated
iotbench query --config config.yaml --target mariadb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T04:31:01.937Z --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T04:31:53.562Z --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T04:32:44.870Z --output ../repeated
iotbench insert --config config.yaml --target mariadb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T04:33:35.948Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T05:48:13.011Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T05:48:23.207Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T05:49:18.084Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T05:50:02.532Z --output ../repeated
iotbench query --config config.yaml --target timescaledb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T05:50:07.310Z --output ../repeated
iotbench query --config config.yaml --target timescaledb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T05:50:12.072Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T05:50:55.357Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T05:52:10.962Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T05:52:21.829Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T05:52:32.282Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T05:52:42.710Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T05:52:53.185Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T05:53:03.457Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T05:53:14.033Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T06:06:18.001Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T06:40:58.135Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T06:41:44.728Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T06:42:30.031Z --output ../repeated
iotbench query --config config.yaml --target mysql_innodb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T06:42:39.409Z --output ../repeated
iotbench query --config config.yaml --target mysql_innodb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T06:42:48.840Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T06:43:32.145Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T06:44:19.937Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T06:44:31.841Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T06:44:40.264Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T06:44:48.739Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T06:44:57.342Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T06:45:05.858Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T06:45:31.953Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T06:53:06.661Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T06:53:53.482Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T07:03:06.478Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T07:03:17.899Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T07:04:09.864Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T07:04:58.967Z --output ../repeated
iotbench query --config config.yaml --target clickhouse_embedded --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T07:05:10.112Z --output ../repeated
iotbench query --config config.yaml --target clickhouse_embedded --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T07:05:22.406Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T07:06:10.710Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T07:06:57.272Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T07:07:08.282Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T07:07:18.834Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T07:07:29.329Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T07:07:39.714Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T07:07:50.100Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T07:08:01.757Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T07:08:13.549Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T07:08:28.178Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T07:08:42.094Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T07:10:04.964Z --output ../repeated
iotbench query --config config.yaml --target clickhouse_embedded --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T07:10:10.603Z --output ../repeated
iotbench query --config config.yaml --target clickhouse_embedded --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T07:10:13.701Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T07:11:41.449Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T07:13:11.543Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T07:14:08.858Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T07:15:08.061Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T07:15:57.448Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T07:16:47.116Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T07:18:20.703Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T07:19:40.857Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T07:21:15.071Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T07:22:13.386Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T07:23:02.896Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T07:23:50.380Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T07:25:03.632Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T07:26:22.408Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T07:27:20.765Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T07:28:10.677Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T07:29:02.644Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T07:29:52.555Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T07:30:41.414Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T07:31:33.039Z --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T07:32:20.190Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T07:40:09.342Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T07:40:24.901Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T07:41:28.750Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T07:42:15.330Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T07:42:25.355Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T07:42:33.672Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T07:43:17.951Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T07:44:13.299Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T07:44:28.242Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T07:44:44.594Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T07:44:59.513Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T07:45:15.637Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T07:45:32.403Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T07:45:49.200Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T07:46:05.103Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T07:46:21.273Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T07:46:37.417Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T07:47:35.244Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T07:48:31.336Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --num-inserts 500000 --batch 30000 --timeout 600s --start-time 2026-11-28T07:49:27.333Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --num-inserts 500000 --batch 30000 --timeout 600s --start-time 2026-11-28T07:49:35.750Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T07:49:43.731Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T07:50:39.677Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T07:51:37.461Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T07:52:34.405Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T07:53:32.212Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T07:54:31.634Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T07:55:30.165Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T07:56:24.007Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T07:57:09.195Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T08:02:07.028Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T08:02:15.545Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T08:02:24.330Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T08:03:13.056Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T08:04:06.834Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --num-inserts 500000 --batch 30000 --timeout 600s --start-time 2026-11-28T08:04:59.250Z --output ../repeated
iotbench query --config config.yaml --target mysql_innodb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --num-inserts 500000 --batch 30000 --timeout 600s --start-time 2026-11-28T08:05:12.882Z --output ../repeated
iotbench query --config config.yaml --target mysql_innodb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T08:05:26.397Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T08:06:20.037Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T08:07:21.753Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T08:08:09.290Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T08:09:03.652Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T08:09:58.240Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T08:10:54.803Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T08:11:50.056Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T08:12:47.506Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T08:13:41.966Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T08:14:36.191Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T08:15:30.620Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T08:16:23.938Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T08:17:16.636Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T08:18:11.419Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T08:19:06.060Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T08:20:00.722Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T08:26:55.521Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T08:27:04.268Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T08:27:13.236Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T08:27:59.816Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T08:28:48.104Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T08:29:38.638Z --output ../repeated
iotbench query --config config.yaml --target postgresql_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T08:29:43.718Z --output ../repeated
iotbench query --config config.yaml --target postgresql_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T08:29:47.181Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T08:30:42.051Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T08:31:33.578Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T08:32:24.129Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T08:33:13.384Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T08:34:03.977Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T08:34:55.034Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T08:35:44.444Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T08:37:00.287Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T08:37:47.314Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T08:38:33.974Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T09:29:28.459Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T09:30:15.619Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T09:31:04.054Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T09:31:55.702Z --output ../repeated
iotbench insert --config config.yaml --target postgresql_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T09:32:44.676Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T09:33:50.228Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T09:34:01.062Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T09:34:12.066Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T09:35:11.040Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T09:36:14.212Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 1 --num-inserts 500000 --batch 30000 --timeout 600s --start-time 2026-11-28T09:37:12.153Z --output ../repeated
iotbench query --config config.yaml --target timescaledb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 1 --num-inserts 500000 --batch 30000 --timeout 600s --start-time 2026-11-28T09:37:17.198Z --output ../repeated
iotbench query --config config.yaml --target timescaledb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T09:37:20.645Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T09:38:22.305Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T09:39:36.526Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T09:40:51.423Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T09:41:49.179Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T09:42:52.302Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T09:46:25.612Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T09:46:34.020Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T09:46:42.517Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T09:46:51.060Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T09:46:59.710Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T09:47:46.870Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T09:48:36.024Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T09:49:25.703Z --output ../repeated
iotbench query --config config.yaml --target mysql_innodb_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T09:49:38.737Z --output ../repeated
iotbench query --config config.yaml --target mysql_innodb_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T09:49:51.732Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T09:50:42.297Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T09:51:31.427Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T09:52:18.404Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T09:53:05.408Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T09:53:57.295Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T09:54:46.903Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T09:55:35.676Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T09:56:25.269Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T09:57:15.036Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T09:58:04.728Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T09:59:08.726Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T09:59:19.675Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T09:59:30.710Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T10:00:15.100Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T10:00:59.613Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T10:01:44.281Z --output ../repeated
iotbench query --config config.yaml --target influxdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T10:01:47.606Z --output ../repeated
iotbench query --config config.yaml --target influxdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T10:01:50.976Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T10:02:35.744Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T10:03:20.429Z --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T10:05:26.036Z --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T10:05:42.971Z --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T10:06:00.706Z --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T10:06:17.327Z --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T10:06:33.955Z --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T10:07:52.369Z --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T10:08:51.055Z --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 1 --num-inserts 500000 --batch 30000 --timeout 600s --start-time 2026-11-28T10:10:00.160Z --output ../repeated
iotbench query --config config.yaml --target victoriametrics --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 1 --num-inserts 500000 --batch 30000 --timeout 600s --start-time 2026-11-28T10:10:06.122Z --output ../repeated
iotbench query --config config.yaml --target victoriametrics --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T10:10:11.005Z --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T10:11:13.890Z --output ../repeated
iotbench insert --config config.yaml --target victoriametrics --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 30000 --timeout 600s --start-time 2026-11-28T10:12:15.231Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T10:13:31.254Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T10:13:42.397Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T10:13:53.725Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T10:14:05.112Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T10:14:16.709Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T10:15:20.580Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T10:16:24.738Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T10:17:29.746Z --output ../repeated
iotbench query --config config.yaml --target mysql_myisam --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T10:17:53.370Z --output ../repeated
iotbench query --config config.yaml --target mysql_myisam --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T10:18:16.758Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T10:19:23.134Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T10:20:27.243Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T10:21:32.030Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T10:22:35.902Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T10:23:41.783Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T10:25:03.543Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T10:25:18.941Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T10:25:34.975Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T10:25:50.642Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T10:26:06.303Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T10:28:06.792Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T10:29:25.631Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --num-inserts 500000 --batch 10000 --timeout 600s --start-time 2026-11-28T10:30:44.822Z --output ../repeated
iotbench query --config config.yaml --target cassandra_sync --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --num-inserts 500000 --batch 10000 --timeout 600s --start-time 2026-11-28T10:30:58.996Z --output ../repeated
iotbench query --config config.yaml --target cassandra_sync --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T10:31:12.398Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T10:32:27.755Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T10:33:34.566Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T10:35:31.577Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T10:37:28.762Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T10:38:44.097Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T10:40:03.373Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T10:41:21.204Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T10:43:30.804Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T10:43:44.982Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T10:43:59.378Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T10:44:13.769Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T10:44:28.441Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T10:46:30.762Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T10:48:02.950Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --num-inserts 500000 --batch 10000 --timeout 600s --start-time 2026-11-28T10:49:17.377Z --output ../repeated
iotbench query --config config.yaml --target cassandra_sync_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --num-inserts 500000 --batch 10000 --timeout 600s --start-time 2026-11-28T10:49:32.013Z --output ../repeated
iotbench query --config config.yaml --target cassandra_sync_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T10:49:46.848Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T10:51:04.389Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T10:52:57.115Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T10:54:53.469Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T10:57:23.130Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T11:00:02.560Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T11:01:19.420Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T11:03:51.691Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T11:05:58.643Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T11:08:50.287Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T11:11:57.605Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T11:12:14.739Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T11:12:32.424Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T11:12:50.289Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T11:13:07.658Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T11:14:02.341Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T11:14:59.056Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --num-inserts 500000 --batch 10000 --timeout 600s --start-time 2026-11-28T11:15:54.621Z --output ../repeated
iotbench query --config config.yaml --target opensearch_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --num-inserts 500000 --batch 10000 --timeout 600s --start-time 2026-11-28T11:16:04.215Z --output ../repeated
iotbench query --config config.yaml --target opensearch_advised --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T11:16:13.429Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T11:17:10.366Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T11:18:03.535Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T11:18:55.935Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T11:19:50.814Z --output ../repeated
iotbench insert --config config.yaml --target opensearch_advised --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 10000 --timeout 600s --start-time 2026-11-28T11:20:45.728Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T11:22:03.764Z --output ../repeated
iotbench insert --config config.yaml --target opentsdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T11:22:16.713Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T11:22:45.629Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T11:22:54.486Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T11:23:45.627Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T11:24:35.781Z --output ../repeated
iotbench query --config config.yaml --target sqlite --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T11:24:41.252Z --output ../repeated
iotbench query --config config.yaml --target sqlite --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T11:24:46.618Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T11:25:30.279Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T11:26:21.182Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T11:26:37.297Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T11:26:47.394Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T11:26:57.543Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T11:27:07.712Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T11:27:17.865Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T11:27:28.036Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T11:27:38.149Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T11:27:48.273Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T11:27:58.545Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T11:28:50.533Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T11:29:49.387Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T11:30:49.753Z --output ../repeated
iotbench query --config config.yaml --target sqlite --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T11:31:02.538Z --output ../repeated
iotbench query --config config.yaml --target sqlite --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T11:31:07.521Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T11:32:00.097Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T11:32:59.590Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T11:33:59.019Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T11:34:57.352Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T11:35:54.815Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T11:36:44.975Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T11:37:30.766Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T11:38:21.400Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T11:39:30.968Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T11:39:39.313Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T11:40:25.110Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T11:41:08.980Z --output ../repeated
iotbench query --config config.yaml --target postgresql --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T11:41:14.415Z --output ../repeated
iotbench query --config config.yaml --target postgresql --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T11:41:19.878Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T11:42:03.295Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T11:42:49.155Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T11:42:58.240Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T11:43:06.906Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T11:43:15.655Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T11:43:24.610Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T11:43:33.653Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T11:43:42.723Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T11:43:52.999Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T11:44:26.746Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T11:44:35.419Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T11:45:23.100Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T11:46:08.569Z --output ../repeated
iotbench query --config config.yaml --target questdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-28T11:46:13.551Z --output ../repeated
iotbench query --config config.yaml --target questdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T11:46:17.789Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T11:47:01.147Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-28T11:47:50.482Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T11:47:59.219Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-28T11:48:07.940Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T11:48:16.705Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-28T11:48:25.471Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T11:48:34.314Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-28T11:48:43.129Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T11:48:52.152Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T11:49:01.062Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T11:49:10.264Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T11:50:00.185Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T11:50:54.452Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T11:51:46.230Z --output ../repeated
iotbench query --config config.yaml --target questdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T11:51:48.569Z --output ../repeated
iotbench query --config config.yaml --target questdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T11:51:50.732Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T11:52:42.491Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T11:53:35.108Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T11:54:24.634Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T11:55:14.417Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T11:56:06.031Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T11:57:02.183Z --output ../repeated
iotbench insert --config config.yaml --target questdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-28T11:57:50.093Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-28T12:00:01.675Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T12:00:10.619Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T12:00:59.629Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T12:01:55.404Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T12:02:47.073Z --output ../repeated
iotbench query --config config.yaml --target postgresql --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-28T12:02:51.804Z --output ../repeated
iotbench query --config config.yaml --target postgresql --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 4 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T12:02:55.078Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T12:03:45.588Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T12:04:37.788Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 2 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-28T12:05:29.081Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-28T12:06:23.397Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-29T12:57:11.613Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-29T12:57:20.871Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-29T12:58:05.730Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-29T12:58:51.374Z --output ../repeated
iotbench query --config config.yaml --target duckdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --batch 10000 --workload cpu --scale 32 --interval 3s --usage doubles --precision full --timeout 600s --start-time 2026-11-29T12:58:58.092Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --batch 10000 --workload cpu --scale 32 --interval 3s --usage doubles --precision full --timeout 600s --start-time 2026-11-29T12:59:03.846Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-29T12:59:09.762Z --output ../repeated
iotbench query --config config.yaml --target duckdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-29T12:59:16.540Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-29T13:00:05.652Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 1000 --timeout 600s --start-time 2026-11-29T13:00:51.076Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-29T13:01:00.328Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-29T13:01:45.236Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-29T13:02:33.854Z --output ../repeated
iotbench query --config config.yaml --target duckdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-29T13:02:40.629Z --output ../repeated
iotbench query --config config.yaml --target duckdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-29T13:02:47.476Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-29T13:03:32.111Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-29T13:04:16.903Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-29T13:05:03.300Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --batch 1000 --workload cpu --scale 32 --interval 30s --usage doubles --precision full --timeout 600s --start-time 2026-11-29T13:05:54.909Z --output ../repeated
iotbench query --config config.yaml --target duckdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --timeout 600s --start-time 2026-11-29T13:06:02.030Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 1000 --timeout 600s --start-time 2026-11-29T13:06:46.637Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-29T13:07:33.006Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 3000 --timeout 600s --start-time 2026-11-29T13:07:42.508Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-29T13:07:51.835Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 10000 --timeout 600s --start-time 2026-11-29T13:08:01.214Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-29T13:08:10.705Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 30000 --timeout 600s --start-time 2026-11-29T13:08:20.129Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-29T13:08:29.808Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 5s --warmup 2s --batch 100000 --timeout 600s --start-time 2026-11-29T13:08:39.220Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-29T13:08:48.666Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-29T13:09:35.177Z --output ../repeated
iotbench query --config config.yaml --target duckdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-29T13:09:38.994Z --output ../repeated
iotbench query --config config.yaml --target duckdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-29T13:09:42.563Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-29T13:10:29.087Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-29T13:11:22.383Z --output ../repeated
iotbench query --config config.yaml --target duckdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-29T13:11:26.314Z --output ../repeated
iotbench query --config config.yaml --target duckdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-29T13:11:30.021Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-29T13:12:16.472Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --num-inserts 500000 --batch 100000 --timeout 600s --start-time 2026-11-29T13:13:03.334Z --output ../repeated
iotbench query --config config.yaml --target duckdb --workers 1 --runs 3 --timeout 600s --output ../repeated
iotbench insert --config config.yaml --target duckdb --runs 1 --workers 1 --duration 30s --warmup-until-steady 60s --batch 100000 --timeout 600s --start-time 2026-11-29T13:13:07.322Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T20:13:12.577Z --output ../repeated
iotbench query --config config.yaml --target postgresql --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T20:13:36.498Z --output ../repeated
iotbench query --config config.yaml --target postgresql --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T20:14:00.604Z --output ../repeated
iotbench query --config config.yaml --target postgresql --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --start-time 2026-11-30T20:14:25.685Z --output ../repeated
iotbench mixed --config config.yaml --target postgresql --timeout 600s --duration 10s --warmup 1s --fresh 3600s --insert-rate 1000 --batch 100 --types fresh-count --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 1 --num-inserts 500000 --steps 5 --batch 10000 --start-time 2026-11-30T20:14:39.337Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 2 --duration 40s --rate 4000 --batch 100 --at 15s --for 1s --start-time 2026-11-30T20:14:47.759Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:15:29.323Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-2 --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:15:40.461Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-2 --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:15:51.047Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:16:01.750Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 2 --duration 40s --rate 4000 --batch 100 --at 15s --for 1s --start-time 2026-11-30T20:16:13.277Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 1 --num-inserts 500000 --steps 5 --batch 10000 --start-time 2026-11-30T20:16:54.913Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --start-time 2026-11-30T20:17:04.137Z --output ../repeated
iotbench mixed --config config.yaml --target postgresql --timeout 600s --duration 10s --warmup 1s --fresh 3600s --insert-rate 1000 --batch 100 --types fresh-count --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T20:17:17.979Z --output ../repeated
iotbench query --config config.yaml --target postgresql --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T20:17:43.436Z --output ../repeated
iotbench query --config config.yaml --target postgresql --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T20:18:08.274Z --output ../repeated
iotbench query --config config.yaml --target postgresql --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T20:18:32.306Z --output ../repeated
iotbench query --config config.yaml --target postgresql --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T20:18:56.293Z --output ../repeated
iotbench query --config config.yaml --target postgresql --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T20:19:20.442Z --output ../repeated
iotbench query --config config.yaml --target postgresql --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --start-time 2026-11-30T20:19:45.751Z --output ../repeated
iotbench mixed --config config.yaml --target postgresql --timeout 600s --duration 10s --warmup 1s --fresh 3600s --insert-rate 1000 --batch 100 --types fresh-count --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:19:59.484Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-2 --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:20:10.551Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T20:20:26.723Z --output ../repeated
iotbench query --config config.yaml --target sqlite --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target sqlite --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T20:20:51.361Z --output ../repeated
iotbench query --config config.yaml --target sqlite --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target sqlite --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T20:21:16.554Z --output ../repeated
iotbench query --config config.yaml --target sqlite --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target sqlite --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --start-time 2026-11-30T20:21:43.408Z --output ../repeated
iotbench mixed --config config.yaml --target sqlite --timeout 600s --duration 10s --warmup 1s --fresh 3600s --insert-rate 1000 --batch 100 --types fresh-count --output ../repeated
iotbench insert --config config.yaml --target sqlite --timeout 600s --runs 1 --workers 1 --num-inserts 500000 --steps 5 --batch 10000 --start-time 2026-11-30T20:21:56.359Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --timeout 600s --runs 1 --workers 1 --num-inserts 500000 --steps 5 --batch 10000 --start-time 2026-11-30T20:22:07.962Z --output ../repeated
iotbench insert --config config.yaml --target sqlite --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --start-time 2026-11-30T20:22:20.003Z --output ../repeated
iotbench mixed --config config.yaml --target sqlite --timeout 600s --duration 10s --warmup 1s --fresh 3600s --insert-rate 1000 --batch 100 --types fresh-count --output ../repeated
iotbench insert --config config.yaml --target sqlite --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T20:22:33.633Z --output ../repeated
iotbench query --config config.yaml --target sqlite --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target sqlite --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T20:23:00.455Z --output ../repeated
iotbench query --config config.yaml --target sqlite --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target sqlite --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T20:23:25.634Z --output ../repeated
iotbench query --config config.yaml --target sqlite --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target sqlite --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T20:23:50.496Z --output ../repeated
iotbench query --config config.yaml --target sqlite --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target sqlite --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T20:24:15.411Z --output ../repeated
iotbench query --config config.yaml --target sqlite --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target sqlite --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T20:24:40.595Z --output ../repeated
iotbench query --config config.yaml --target sqlite --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target sqlite --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --start-time 2026-11-30T20:25:07.370Z --output ../repeated
iotbench mixed --config config.yaml --target sqlite --timeout 600s --duration 10s --warmup 1s --fresh 3600s --insert-rate 1000 --batch 100 --types fresh-count --output ../repeated
iotbench insert --config config.yaml --target influxdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T20:33:58.969Z --output ../repeated
iotbench query --config config.yaml --target influxdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target influxdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T20:34:24.365Z --output ../repeated
iotbench query --config config.yaml --target influxdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target influxdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T20:34:54.209Z --output ../repeated
iotbench query --config config.yaml --target influxdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target influxdb --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --start-time 2026-11-30T20:35:52.863Z --output ../repeated
iotbench mixed --config config.yaml --target influxdb --timeout 600s --duration 10s --warmup 1s --fresh 3600s --insert-rate 1000 --batch 100 --types fresh-count --output ../repeated
iotbench insert --config config.yaml --target influxdb --timeout 600s --runs 1 --workers 1 --num-inserts 500000 --steps 5 --batch 10000 --start-time 2026-11-30T20:36:06.645Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --timeout 600s --runs 1 --workers 2 --duration 40s --rate 4000 --batch 100 --at 15s --for 1s --start-time 2026-11-30T20:36:26.538Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:37:08.493Z --output ../repeated
iotbench insert --config config.yaml --target influxdb-2 --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:37:21.382Z --output ../repeated
iotbench insert --config config.yaml --target influxdb-2 --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:37:32.393Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:37:43.408Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --timeout 600s --runs 1 --workers 2 --duration 40s --rate 4000 --batch 100 --at 15s --for 1s --start-time 2026-11-30T20:37:56.181Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --timeout 600s --runs 1 --workers 1 --num-inserts 500000 --steps 5 --batch 10000 --start-time 2026-11-30T20:38:38.146Z --output ../repeated
iotbench insert --config config.yaml --target influxdb --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --start-time 2026-11-30T20:38:58.370Z --output ../repeated
iotbench mixed --config config.yaml --target influxdb --timeout 600s --duration 10s --warmup 1s --fresh 3600s --insert-rate 1000 --batch 100 --types fresh-count --output ../repeated
iotbench insert --config config.yaml --target influxdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T20:39:12.274Z --output ../repeated
iotbench query --config config.yaml --target influxdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target influxdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T20:40:10.807Z --output ../repeated
iotbench query --config config.yaml --target influxdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target influxdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T20:40:40.997Z --output ../repeated
iotbench query --config config.yaml --target influxdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target influxdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T20:41:06.552Z --output ../repeated
iotbench query --config config.yaml --target influxdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target influxdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T20:41:32.172Z --output ../repeated
iotbench query --config config.yaml --target influxdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target influxdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T20:42:02.533Z --output ../repeated
iotbench query --config config.yaml --target influxdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target influxdb --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --start-time 2026-11-30T20:43:02.385Z --output ../repeated
iotbench mixed --config config.yaml --target influxdb --timeout 600s --duration 10s --warmup 1s --fresh 3600s --insert-rate 1000 --batch 100 --types fresh-count --output ../repeated
iotbench insert --config config.yaml --target influxdb --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:43:16.409Z --output ../repeated
iotbench insert --config config.yaml --target influxdb-2 --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:43:30.593Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T20:43:47.141Z --output ../repeated
iotbench query --config config.yaml --target timescaledb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target timescaledb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T20:44:12.319Z --output ../repeated
iotbench query --config config.yaml --target timescaledb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target timescaledb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T20:44:37.341Z --output ../repeated
iotbench query --config config.yaml --target timescaledb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target timescaledb --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --start-time 2026-11-30T20:45:03.412Z --output ../repeated
iotbench mixed --config config.yaml --target timescaledb --timeout 600s --duration 10s --warmup 1s --fresh 3600s --insert-rate 1000 --batch 100 --types fresh-count --output ../repeated
iotbench insert --config config.yaml --target timescaledb --timeout 600s --runs 1 --workers 1 --num-inserts 500000 --steps 5 --batch 10000 --start-time 2026-11-30T20:45:17.231Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --timeout 600s --runs 1 --workers 2 --duration 40s --rate 4000 --batch 100 --at 15s --for 1s --start-time 2026-11-30T20:45:32.442Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:46:14.430Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-2 --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:46:27.290Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-2 --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:46:38.474Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:46:49.504Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --timeout 600s --runs 1 --workers 2 --duration 40s --rate 4000 --batch 100 --at 15s --for 1s --start-time 2026-11-30T20:47:02.475Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --timeout 600s --runs 1 --workers 1 --num-inserts 500000 --steps 5 --batch 10000 --start-time 2026-11-30T20:47:44.530Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --start-time 2026-11-30T20:47:59.655Z --output ../repeated
iotbench mixed --config config.yaml --target timescaledb --timeout 600s --duration 10s --warmup 1s --fresh 3600s --insert-rate 1000 --batch 100 --types fresh-count --output ../repeated
iotbench insert --config config.yaml --target timescaledb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T20:48:13.874Z --output ../repeated
iotbench query --config config.yaml --target timescaledb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target timescaledb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T20:48:39.750Z --output ../repeated
iotbench query --config config.yaml --target timescaledb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target timescaledb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T20:49:04.775Z --output ../repeated
iotbench query --config config.yaml --target timescaledb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target timescaledb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T20:49:30.075Z --output ../repeated
iotbench query --config config.yaml --target timescaledb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target timescaledb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T20:49:55.437Z --output ../repeated
iotbench query --config config.yaml --target timescaledb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target timescaledb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T20:50:20.405Z --output ../repeated
iotbench query --config config.yaml --target timescaledb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target timescaledb --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --start-time 2026-11-30T20:50:46.589Z --output ../repeated
iotbench mixed --config config.yaml --target timescaledb --timeout 600s --duration 10s --warmup 1s --fresh 3600s --insert-rate 1000 --batch 100 --types fresh-count --output ../repeated
iotbench insert --config config.yaml --target timescaledb --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:51:00.490Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-2 --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:51:13.202Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T20:51:32.367Z --output ../repeated
iotbench query --config config.yaml --target mysql_innodb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T20:51:58.234Z --output ../repeated
iotbench query --config config.yaml --target mysql_innodb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T20:52:24.012Z --output ../repeated
iotbench query --config config.yaml --target mysql_innodb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --start-time 2026-11-30T20:52:51.109Z --output ../repeated
iotbench mixed --config config.yaml --target mysql_innodb --timeout 600s --duration 10s --warmup 1s --fresh 3600s --insert-rate 1000 --batch 100 --types fresh-count --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --timeout 600s --runs 1 --workers 1 --num-inserts 500000 --steps 5 --batch 10000 --start-time 2026-11-30T20:53:04.258Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --timeout 600s --runs 1 --workers 2 --duration 40s --rate 4000 --batch 100 --at 15s --for 1s --start-time 2026-11-30T20:53:23.008Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:54:04.844Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-2 --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:54:16.493Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-2 --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:54:27.295Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:54:38.079Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --timeout 600s --runs 1 --workers 2 --duration 40s --rate 4000 --batch 100 --at 15s --for 1s --start-time 2026-11-30T20:54:49.694Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --timeout 600s --runs 1 --workers 1 --num-inserts 500000 --steps 5 --batch 10000 --start-time 2026-11-30T20:55:31.516Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --start-time 2026-11-30T20:55:51.012Z --output ../repeated
iotbench mixed --config config.yaml --target mysql_innodb --timeout 600s --duration 10s --warmup 1s --fresh 3600s --insert-rate 1000 --batch 100 --types fresh-count --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T20:56:04.581Z --output ../repeated
iotbench query --config config.yaml --target mysql_innodb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T20:56:31.953Z --output ../repeated
iotbench query --config config.yaml --target mysql_innodb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T20:56:58.029Z --output ../repeated
iotbench query --config config.yaml --target mysql_innodb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T20:57:24.265Z --output ../repeated
iotbench query --config config.yaml --target mysql_innodb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T20:57:50.306Z --output ../repeated
iotbench query --config config.yaml --target mysql_innodb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T20:58:16.463Z --output ../repeated
iotbench query --config config.yaml --target mysql_innodb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --start-time 2026-11-30T20:58:43.660Z --output ../repeated
iotbench mixed --config config.yaml --target mysql_innodb --timeout 600s --duration 10s --warmup 1s --fresh 3600s --insert-rate 1000 --batch 100 --types fresh-count --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:58:57.202Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-2 --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T20:59:08.911Z --output ../repeated
iotbench insert --config config.yaml --target questdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T20:59:28.700Z --output ../repeated
iotbench query --config config.yaml --target questdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target questdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T20:59:52.511Z --output ../repeated
iotbench query --config config.yaml --target questdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target questdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T21:00:16.672Z --output ../repeated
iotbench query --config config.yaml --target questdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target questdb --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --start-time 2026-11-30T21:00:42.831Z --output ../repeated
iotbench mixed --config config.yaml --target questdb --timeout 600s --duration 10s --warmup 1s --fresh 3600s --insert-rate 1000 --batch 100 --types fresh-count --output ../repeated
iotbench insert --config config.yaml --target questdb --timeout 600s --runs 1 --workers 1 --num-inserts 500000 --steps 5 --batch 10000 --start-time 2026-11-30T21:00:56.278Z --output ../repeated
iotbench insert --config config.yaml --target questdb --timeout 600s --runs 1 --workers 2 --duration 40s --rate 4000 --batch 100 --at 15s --for 1s --start-time 2026-11-30T21:01:02.471Z --output ../repeated
iotbench insert --config config.yaml --target questdb --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T21:01:44.049Z --output ../repeated
iotbench insert --config config.yaml --target questdb-2 --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T21:01:55.587Z --output ../repeated
iotbench insert --config config.yaml --target questdb-2 --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T21:02:06.206Z --output ../repeated
iotbench insert --config config.yaml --target questdb --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T21:02:16.773Z --output ../repeated
iotbench insert --config config.yaml --target questdb --timeout 600s --runs 1 --workers 2 --duration 40s --rate 4000 --batch 100 --at 15s --for 1s --start-time 2026-11-30T21:02:28.140Z --output ../repeated
iotbench insert --config config.yaml --target questdb --timeout 600s --runs 1 --workers 1 --num-inserts 500000 --steps 5 --batch 10000 --start-time 2026-11-30T21:03:09.708Z --output ../repeated
iotbench insert --config config.yaml --target questdb --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --start-time 2026-11-30T21:03:17.032Z --output ../repeated
iotbench mixed --config config.yaml --target questdb --timeout 600s --duration 10s --warmup 1s --fresh 3600s --insert-rate 1000 --batch 100 --types fresh-count --output ../repeated
iotbench insert --config config.yaml --target questdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T21:03:30.665Z --output ../repeated
iotbench query --config config.yaml --target questdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target questdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T21:03:57.587Z --output ../repeated
iotbench query --config config.yaml --target questdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target questdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T21:04:21.586Z --output ../repeated
iotbench query --config config.yaml --target questdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target questdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T21:04:44.344Z --output ../repeated
iotbench query --config config.yaml --target questdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target questdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T21:05:07.375Z --output ../repeated
iotbench query --config config.yaml --target questdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target questdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T21:05:31.019Z --output ../repeated
iotbench query --config config.yaml --target questdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target questdb --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --start-time 2026-11-30T21:05:57.448Z --output ../repeated
iotbench mixed --config config.yaml --target questdb --timeout 600s --duration 10s --warmup 1s --fresh 3600s --insert-rate 1000 --batch 100 --types fresh-count --output ../repeated
iotbench insert --config config.yaml --target questdb --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T21:06:11.015Z --output ../repeated
iotbench insert --config config.yaml --target questdb-2 --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T21:06:22.647Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T21:06:38.524Z --output ../repeated
iotbench query --config config.yaml --target duckdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target duckdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T21:07:02.436Z --output ../repeated
iotbench query --config config.yaml --target duckdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target duckdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T21:07:27.057Z --output ../repeated
iotbench query --config config.yaml --target duckdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target duckdb --timeout 600s --runs 1 --workers 1 --num-inserts 500000 --steps 5 --batch 10000 --start-time 2026-11-30T21:07:54.112Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --timeout 600s --runs 1 --workers 1 --num-inserts 500000 --steps 5 --batch 10000 --start-time 2026-11-30T21:08:03.318Z --output ../repeated
iotbench insert --config config.yaml --target duckdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T21:08:12.554Z --output ../repeated
iotbench query --config config.yaml --target duckdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target duckdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T21:08:39.870Z --output ../repeated
iotbench query --config config.yaml --target duckdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target duckdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T21:09:05.081Z --output ../repeated
iotbench query --config config.yaml --target duckdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target duckdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T21:09:29.165Z --output ../repeated
iotbench query --config config.yaml --target duckdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target duckdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T21:09:53.210Z --output ../repeated
iotbench query --config config.yaml --target duckdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target duckdb --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T21:10:18.030Z --output ../repeated
iotbench query --config config.yaml --target duckdb --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T23:38:48.738Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T23:39:32.819Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T23:40:09.654Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --start-time 2026-11-30T23:40:46.555Z --output ../repeated
iotbench mixed --config config.yaml --target elasticsearch --timeout 600s --duration 10s --warmup 1s --fresh 3600s --insert-rate 1000 --batch 100 --types fresh-count --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --timeout 600s --runs 1 --workers 1 --num-inserts 500000 --steps 5 --batch 10000 --start-time 2026-11-30T23:41:04.373Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --timeout 600s --runs 1 --workers 2 --duration 40s --rate 4000 --batch 100 --at 15s --for 1s --start-time 2026-11-30T23:42:02.403Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T23:42:48.269Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-2 --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T23:43:07.017Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-2 --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T23:43:20.283Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T23:43:33.457Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --timeout 600s --runs 1 --workers 2 --duration 40s --rate 4000 --batch 100 --at 15s --for 1s --start-time 2026-11-30T23:43:51.065Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --timeout 600s --runs 1 --workers 1 --num-inserts 500000 --steps 5 --batch 10000 --start-time 2026-11-30T23:44:36.347Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --start-time 2026-11-30T23:45:38.416Z --output ../repeated
iotbench mixed --config config.yaml --target elasticsearch --timeout 600s --duration 10s --warmup 1s --fresh 3600s --insert-rate 1000 --batch 100 --types fresh-count --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T23:45:55.025Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T23:46:33.813Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T23:47:06.529Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100 --fields 1 --start-time 2026-11-30T23:47:36.892Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 10000 --fields 1 --start-time 2026-11-30T23:48:07.096Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --timeout 600s --runs 1 --resources --workers 1 --limit 500000 --batch 10000 --workload cpu --scale 100000 --fields 1 --start-time 2026-11-30T23:48:38.384Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch --timeout 600s --resources --workers 1 --types single-lastpoint --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --start-time 2026-11-30T23:49:15.093Z --output ../repeated
iotbench mixed --config config.yaml --target elasticsearch --timeout 600s --duration 10s --warmup 1s --fresh 3600s --insert-rate 1000 --batch 100 --types fresh-count --output ../repeated
iotbench insert --config config.yaml --target elasticsearch --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T23:49:31.802Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-2 --timeout 600s --runs 1 --workers 1 --duration 8s --warmup 1s --batch 1000 --start-time 2026-11-30T23:49:49.105Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-2 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 2000 --workload slim --start-time 2026-11-30T23:52:47.625Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-11-30T23:52:58.809Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-11-30T23:53:15.528Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-4 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload light --start-time 2026-11-30T23:53:22.807Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-5 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-11-30T23:53:24.461Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-5 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-11-30T23:53:31.819Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-2 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload large --start-time 2026-11-30T23:53:39.701Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-11-30T23:53:41.517Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-11-30T23:53:49.602Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-3 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 2000 --workload slim --start-time 2026-11-30T23:53:57.336Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-11-30T23:54:08.983Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-11-30T23:54:22.398Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-5 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload light --start-time 2026-11-30T23:54:25.898Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-6 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-11-30T23:54:28.086Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-6 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-11-30T23:54:32.156Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload large --start-time 2026-11-30T23:54:36.345Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-11-30T23:54:38.386Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-11-30T23:54:42.205Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-3 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 2000 --workload slim --start-time 2026-11-30T23:54:46.048Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-11-30T23:54:57.296Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-11-30T23:55:09.599Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-5 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload light --start-time 2026-11-30T23:55:12.452Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-6 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-11-30T23:55:14.296Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-6 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-11-30T23:55:17.381Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-3 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload large --start-time 2026-11-30T23:55:20.477Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-11-30T23:55:22.130Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-11-30T23:55:25.511Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 2000 --workload slim --start-time 2026-11-30T23:55:28.577Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-11-30T23:55:41.283Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-11-30T23:55:52.558Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload light --start-time 2026-11-30T23:55:54.307Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-11-30T23:55:56.989Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-11-30T23:55:58.700Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload large --start-time 2026-11-30T23:56:00.434Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-11-30T23:56:03.080Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-11-30T23:56:04.830Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 2000 --workload slim --start-time 2026-11-30T23:56:06.562Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-11-30T23:56:16.970Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-11-30T23:56:27.437Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-3 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload light --start-time 2026-11-30T23:56:28.494Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-11-30T23:56:29.672Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-11-30T23:56:30.725Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload large --start-time 2026-11-30T23:56:31.774Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-11-30T23:56:32.761Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-11-30T23:56:33.856Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-11-30T23:56:35.057Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-11-30T23:56:36.129Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload large --start-time 2026-11-30T23:56:37.235Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-11-30T23:56:38.291Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-11-30T23:56:39.330Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-3 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload light --start-time 2026-11-30T23:56:40.331Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-11-30T23:56:41.405Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-11-30T23:56:42.406Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 2000 --workload slim --start-time 2026-11-30T23:56:52.835Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-11-30T23:57:03.286Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-11-30T23:57:05.028Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload large --start-time 2026-11-30T23:57:06.797Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-11-30T23:57:09.551Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-11-30T23:57:11.261Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload light --start-time 2026-11-30T23:57:12.959Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-11-30T23:57:15.669Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-11-30T23:57:17.364Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 2000 --workload slim --start-time 2026-11-30T23:57:28.646Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-11-30T23:57:40.868Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-11-30T23:57:44.313Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-3 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload large --start-time 2026-11-30T23:57:47.321Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-6 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-11-30T23:57:48.976Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-6 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-11-30T23:57:51.814Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-5 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload light --start-time 2026-11-30T23:57:54.567Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-11-30T23:57:56.334Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-11-30T23:57:58.979Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-3 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 2000 --workload slim --start-time 2026-11-30T23:58:11.108Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-11-30T23:58:22.504Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-11-30T23:58:26.190Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload large --start-time 2026-11-30T23:58:29.821Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-6 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-11-30T23:58:31.996Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-6 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-11-30T23:58:35.593Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-5 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload light --start-time 2026-11-30T23:58:39.213Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-11-30T23:58:41.496Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-11-30T23:58:44.839Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-3 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 2000 --workload slim --start-time 2026-11-30T23:58:57.823Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-11-30T23:59:09.488Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-11-30T23:59:18.448Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-2 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload large --start-time 2026-11-30T23:59:27.124Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-5 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-11-30T23:59:28.937Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-5 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-11-30T23:59:36.568Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-4 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload light --start-time 2026-11-30T23:59:44.615Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-11-30T23:59:46.512Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-11-30T23:59:53.841Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-2 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 2000 --workload slim --start-time 2026-12-01T00:00:10.743Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-2 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 2000 --workload slim --start-time 2026-12-01T00:00:22.025Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-12-01T00:00:33.245Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-12-01T00:00:50.559Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-4 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload light --start-time 2026-12-01T00:00:58.878Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-5 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-12-01T00:01:00.660Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-5 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-12-01T00:01:08.038Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-2 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload large --start-time 2026-12-01T00:01:15.086Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-12-01T00:01:16.843Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-12-01T00:01:24.612Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-3 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 2000 --workload slim --start-time 2026-12-01T00:01:32.140Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-12-01T00:01:43.788Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-12-01T00:01:56.729Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-5 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload light --start-time 2026-12-01T00:02:00.525Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-6 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-12-01T00:02:03.097Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-6 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-12-01T00:02:05.908Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload large --start-time 2026-12-01T00:02:09.636Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-12-01T00:02:12.092Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-12-01T00:02:16.090Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-3 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 2000 --workload slim --start-time 2026-12-01T00:02:19.922Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-12-01T00:02:31.225Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-12-01T00:02:43.637Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-5 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload light --start-time 2026-12-01T00:02:46.405Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-6 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-12-01T00:02:48.162Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-6 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-12-01T00:02:51.084Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-3 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload large --start-time 2026-12-01T00:02:54.021Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-12-01T00:02:55.745Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-12-01T00:02:58.825Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 2000 --workload slim --start-time 2026-12-01T00:03:01.938Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-12-01T00:03:14.176Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-12-01T00:03:25.474Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload light --start-time 2026-12-01T00:03:27.338Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-12-01T00:03:30.191Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-12-01T00:03:31.974Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload large --start-time 2026-12-01T00:03:33.744Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-12-01T00:03:36.538Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-12-01T00:03:38.265Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 2000 --workload slim --start-time 2026-12-01T00:03:40.021Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --resources --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-12-01T00:03:50.452Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload slim --start-time 2026-12-01T00:04:00.870Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-3 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload light --start-time 2026-12-01T00:04:01.916Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-12-01T00:04:02.989Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload light --start-time 2026-12-01T00:04:04.015Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --workers 1 --num-inserts 2000 --workload large --start-time 2026-12-01T00:04:05.034Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-12-01T00:04:06.077Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 10000 --workload large --start-time 2026-12-01T00:04:07.187Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload slim --start-time 2026-12-01T00:04:08.444Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-5 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload light --start-time 2026-12-01T00:04:18.260Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload large --start-time 2026-12-01T00:04:29.287Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload slim --start-time 2026-12-01T00:04:40.218Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-6 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload light --start-time 2026-12-01T00:04:42.814Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload large --start-time 2026-12-01T00:04:45.795Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload slim --start-time 2026-12-01T00:04:48.895Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-6 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload light --start-time 2026-12-01T00:04:50.862Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload large --start-time 2026-12-01T00:04:53.043Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload slim --start-time 2026-12-01T00:04:55.537Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-3 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload light --start-time 2026-12-01T00:04:57.603Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload large --start-time 2026-12-01T00:04:59.390Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload slim --start-time 2026-12-01T00:05:01.485Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-3 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload light --start-time 2026-12-01T00:05:02.594Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload large --start-time 2026-12-01T00:05:03.713Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload large --start-time 2026-12-01T00:05:05.008Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-3 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload light --start-time 2026-12-01T00:05:06.312Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload slim --start-time 2026-12-01T00:05:07.426Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload large --start-time 2026-12-01T00:05:08.491Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-3 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload light --start-time 2026-12-01T00:05:10.534Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload slim --start-time 2026-12-01T00:05:12.329Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload large --start-time 2026-12-01T00:05:14.221Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-6 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload light --start-time 2026-12-01T00:05:16.466Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload slim --start-time 2026-12-01T00:05:18.553Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload large --start-time 2026-12-01T00:05:20.543Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-6 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload light --start-time 2026-12-01T00:05:23.571Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload slim --start-time 2026-12-01T00:05:26.365Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload large --start-time 2026-12-01T00:05:29.005Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-5 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload light --start-time 2026-12-01T00:05:40.273Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload slim --start-time 2026-12-01T00:05:51.726Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload slim --start-time 2026-12-01T00:06:03.118Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-5 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload light --start-time 2026-12-01T00:06:13.810Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload large --start-time 2026-12-01T00:06:26.198Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload slim --start-time 2026-12-01T00:06:38.345Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-6 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload light --start-time 2026-12-01T00:06:41.258Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload large --start-time 2026-12-01T00:06:43.905Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload slim --start-time 2026-12-01T00:06:47.004Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-6 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload light --start-time 2026-12-01T00:06:49.368Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload large --start-time 2026-12-01T00:06:51.658Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload slim --start-time 2026-12-01T00:06:53.988Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-3 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload light --start-time 2026-12-01T00:06:55.941Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload large --start-time 2026-12-01T00:06:58.126Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload slim --start-time 2026-12-01T00:07:00.225Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-3 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload light --start-time 2026-12-01T00:07:01.511Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 10000 --tables 2 --tables-by worker --workload large --start-time 2026-12-01T00:07:02.609Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload slim --start-time 2026-12-01T00:07:03.997Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-5 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload light --start-time 2026-12-01T00:07:17.773Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload large --start-time 2026-12-01T00:07:33.927Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload slim --start-time 2026-12-01T00:07:50.432Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-6 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload light --start-time 2026-12-01T00:07:54.702Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload large --start-time 2026-12-01T00:07:59.687Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload slim --start-time 2026-12-01T00:08:05.172Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-6 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload light --start-time 2026-12-01T00:08:08.096Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload large --start-time 2026-12-01T00:08:11.293Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload slim --start-time 2026-12-01T00:08:14.883Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-3 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload light --start-time 2026-12-01T00:08:16.937Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload large --start-time 2026-12-01T00:08:19.489Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-3 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload light --start-time 2026-12-01T00:08:22.399Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload large --start-time 2026-12-01T00:08:23.731Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload large --start-time 2026-12-01T00:08:25.411Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-3 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload light --start-time 2026-12-01T00:08:27.112Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload large --start-time 2026-12-01T00:08:28.560Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-3 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload light --start-time 2026-12-01T00:08:31.423Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload slim --start-time 2026-12-01T00:08:33.977Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload large --start-time 2026-12-01T00:08:35.964Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-6 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload light --start-time 2026-12-01T00:08:39.495Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload slim --start-time 2026-12-01T00:08:42.567Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload large --start-time 2026-12-01T00:08:45.269Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-6 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload light --start-time 2026-12-01T00:08:50.225Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload slim --start-time 2026-12-01T00:08:54.797Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload large --start-time 2026-12-01T00:08:58.949Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-5 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload light --start-time 2026-12-01T00:09:15.113Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload slim --start-time 2026-12-01T00:09:29.205Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload slim --start-time 2026-12-01T00:09:42.070Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-5 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload light --start-time 2026-12-01T00:09:56.428Z --output ../repeated
iotbench insert --config config.yaml --target mysql_myisam-3 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload large --start-time 2026-12-01T00:10:10.970Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload slim --start-time 2026-12-01T00:10:26.610Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-6 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload light --start-time 2026-12-01T00:10:31.338Z --output ../repeated
iotbench insert --config config.yaml --target mysql_innodb-4 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload large --start-time 2026-12-01T00:10:36.077Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload slim --start-time 2026-12-01T00:10:41.256Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-6 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload light --start-time 2026-12-01T00:10:44.111Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-4 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload large --start-time 2026-12-01T00:10:47.299Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload slim --start-time 2026-12-01T00:10:50.655Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-3 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload light --start-time 2026-12-01T00:10:52.740Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-2 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload large --start-time 2026-12-01T00:10:55.294Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-3 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload light --start-time 2026-12-01T00:10:58.003Z --output ../repeated
iotbench insert --config config.yaml --target sqlite-2 --timeout 600s --runs 1 --workers 4 --num-inserts 20000 --batch 10000 --tables multiple --tables-by worker --workload large --start-time 2026-12-01T00:10:59.375Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:11:33.935Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --primary-key sql --start-time 2026-12-01T00:11:35.770Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-7 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:11:37.459Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-8 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 1000 --start-time 2026-12-01T00:11:39.579Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 2 --num-inserts 2000 --start-time 2026-12-01T00:11:41.780Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-7 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --start-time 2026-12-01T00:11:43.800Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-7 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --restart-rows 50000 --start-time 2026-12-01T00:11:47.942Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-9 --timeout 600s --runs 1 --workers 1 --num-inserts 200000 --batch 1000 --devices 10 --start-time 2026-12-01T00:11:52.450Z --output ../repeated
iotbench query --config config.yaml --target postgresql-9 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target postgresql-9 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --devices 10 --start-time 2026-12-01T00:11:57.402Z --output ../repeated
iotbench query --config config.yaml --target postgresql-9 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:12:00.159Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --primary-key none --start-time 2026-12-01T00:12:02.088Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-4 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:12:03.929Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-5 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 1000 --start-time 2026-12-01T00:12:06.218Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 2 --num-inserts 2000 --start-time 2026-12-01T00:12:09.742Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --start-time 2026-12-01T00:12:11.952Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --restart-rows 50000 --start-time 2026-12-01T00:12:16.619Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-6 --timeout 600s --runs 1 --workers 1 --num-inserts 200000 --batch 1000 --devices 10 --start-time 2026-12-01T00:12:21.028Z --output ../repeated
iotbench query --config config.yaml --target timescaledb-6 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-6 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --devices 10 --start-time 2026-12-01T00:12:25.239Z --output ../repeated
iotbench query --config config.yaml --target timescaledb-6 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target influxdb-3 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:12:28.202Z --output ../repeated
iotbench insert --config config.yaml --target influxdb-3 --timeout 600s --runs 1 --workers 2 --num-inserts 2000 --start-time 2026-12-01T00:12:30.328Z --output ../repeated
iotbench insert --config config.yaml --target influxdb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --start-time 2026-12-01T00:12:33.897Z --output ../repeated
iotbench insert --config config.yaml --target influxdb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --restart-rows 50000 --start-time 2026-12-01T00:12:39.014Z --output ../repeated
iotbench insert --config config.yaml --target influxdb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 200000 --batch 1000 --devices 10 --start-time 2026-12-01T00:12:44.227Z --output ../repeated
iotbench query --config config.yaml --target influxdb-3 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target influxdb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --devices 10 --start-time 2026-12-01T00:12:48.450Z --output ../repeated
iotbench query --config config.yaml --target influxdb-3 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:12:52.445Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-3 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:13:00.795Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --devices 100 --start-time 2026-12-01T00:13:06.380Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 2 --num-inserts 2000 --start-time 2026-12-01T00:13:14.162Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --start-time 2026-12-01T00:13:20.093Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --restart-rows 50000 --start-time 2026-12-01T00:13:35.441Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --num-inserts 200000 --batch 1000 --devices 10 --start-time 2026-12-01T00:13:50.314Z --output ../repeated
iotbench query --config config.yaml --target cassandra_sync-2 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --devices 10 --start-time 2026-12-01T00:14:02.233Z --output ../repeated
iotbench query --config config.yaml --target cassandra_sync-2 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-3 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:14:08.864Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-3 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 10000 --start-time 2026-12-01T00:14:22.236Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-3 --timeout 600s --runs 1 --workers 2 --num-inserts 2000 --start-time 2026-12-01T00:14:29.799Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-3 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --start-time 2026-12-01T00:14:39.390Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-3 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --restart-rows 50000 --start-time 2026-12-01T00:14:54.263Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-3 --timeout 600s --runs 1 --workers 1 --num-inserts 200000 --batch 1000 --devices 10 --start-time 2026-12-01T00:15:06.599Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch-3 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --devices 10 --start-time 2026-12-01T00:15:15.106Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch-3 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --devices 10 --start-time 2026-12-01T00:15:19.074Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch-3 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-3 --timeout 600s --runs 1 --workers 1 --num-inserts 200000 --batch 1000 --devices 10 --start-time 2026-12-01T00:15:23.306Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch-3 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-3 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --restart-rows 50000 --start-time 2026-12-01T00:15:30.699Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-3 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --start-time 2026-12-01T00:15:44.851Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-3 --timeout 600s --runs 1 --workers 2 --num-inserts 2000 --start-time 2026-12-01T00:15:59.857Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-3 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 10000 --start-time 2026-12-01T00:16:05.778Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-3 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:16:11.367Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --devices 10 --start-time 2026-12-01T00:16:18.023Z --output ../repeated
iotbench query --config config.yaml --target cassandra_sync-2 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --num-inserts 200000 --batch 1000 --devices 10 --start-time 2026-12-01T00:16:24.442Z --output ../repeated
iotbench query --config config.yaml --target cassandra_sync-2 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --restart-rows 50000 --start-time 2026-12-01T00:16:34.980Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --start-time 2026-12-01T00:16:49.301Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 2 --num-inserts 2000 --start-time 2026-12-01T00:17:02.767Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --devices 100 --start-time 2026-12-01T00:17:07.635Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-3 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:17:13.622Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:17:18.469Z --output ../repeated
iotbench insert --config config.yaml --target influxdb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --devices 10 --start-time 2026-12-01T00:17:23.199Z --output ../repeated
iotbench query --config config.yaml --target influxdb-3 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target influxdb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 200000 --batch 1000 --devices 10 --start-time 2026-12-01T00:17:26.589Z --output ../repeated
iotbench query --config config.yaml --target influxdb-3 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target influxdb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --restart-rows 50000 --start-time 2026-12-01T00:17:30.629Z --output ../repeated
iotbench insert --config config.yaml --target influxdb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --start-time 2026-12-01T00:17:35.891Z --output ../repeated
iotbench insert --config config.yaml --target influxdb-3 --timeout 600s --runs 1 --workers 2 --num-inserts 2000 --start-time 2026-12-01T00:17:41.321Z --output ../repeated
iotbench insert --config config.yaml --target influxdb-3 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:17:45.020Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-6 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --devices 10 --start-time 2026-12-01T00:17:47.478Z --output ../repeated
iotbench query --config config.yaml --target timescaledb-6 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-6 --timeout 600s --runs 1 --workers 1 --num-inserts 200000 --batch 1000 --devices 10 --start-time 2026-12-01T00:17:50.661Z --output ../repeated
iotbench query --config config.yaml --target timescaledb-6 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --restart-rows 50000 --start-time 2026-12-01T00:17:55.707Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --start-time 2026-12-01T00:18:00.884Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 2 --num-inserts 2000 --start-time 2026-12-01T00:18:06.341Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-5 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 1000 --start-time 2026-12-01T00:18:08.978Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-4 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:18:12.635Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --primary-key none --start-time 2026-12-01T00:18:15.230Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:18:17.085Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-9 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --devices 10 --start-time 2026-12-01T00:18:19.182Z --output ../repeated
iotbench query --config config.yaml --target postgresql-9 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target postgresql-9 --timeout 600s --runs 1 --workers 1 --num-inserts 200000 --batch 1000 --devices 10 --start-time 2026-12-01T00:18:21.883Z --output ../repeated
iotbench query --config config.yaml --target postgresql-9 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target postgresql-7 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --restart-rows 50000 --start-time 2026-12-01T00:18:26.448Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-7 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --start-time 2026-12-01T00:18:30.892Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 2 --num-inserts 2000 --start-time 2026-12-01T00:18:35.283Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-8 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 1000 --start-time 2026-12-01T00:18:37.572Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-7 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:18:40.258Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --primary-key sql --start-time 2026-12-01T00:18:42.368Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:18:44.218Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:18:45.945Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --primary-key sql --start-time 2026-12-01T00:18:47.746Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-7 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:18:49.533Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-8 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 1000 --start-time 2026-12-01T00:18:51.782Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 2 --num-inserts 2000 --start-time 2026-12-01T00:18:54.183Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-7 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --start-time 2026-12-01T00:18:56.360Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-7 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --restart-rows 50000 --start-time 2026-12-01T00:19:00.997Z --output ../repeated
iotbench insert --config config.yaml --target postgresql-9 --timeout 600s --runs 1 --workers 1 --num-inserts 200000 --batch 1000 --devices 10 --start-time 2026-12-01T00:19:06.046Z --output ../repeated
iotbench query --config config.yaml --target postgresql-9 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target postgresql-9 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --devices 10 --start-time 2026-12-01T00:19:11.009Z --output ../repeated
iotbench query --config config.yaml --target postgresql-9 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:19:13.959Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --primary-key none --start-time 2026-12-01T00:19:16.279Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-4 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:19:18.394Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-5 --timeout 600s --runs 1 --workers 2 --num-inserts 20000 --batch 1000 --start-time 2026-12-01T00:19:21.053Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 2 --num-inserts 2000 --start-time 2026-12-01T00:19:25.342Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --start-time 2026-12-01T00:19:28.537Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --restart-rows 50000 --start-time 2026-12-01T00:19:34.640Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-6 --timeout 600s --runs 1 --workers 1 --num-inserts 200000 --batch 1000 --devices 10 --start-time 2026-12-01T00:19:39.866Z --output ../repeated
iotbench query --config config.yaml --target timescaledb-6 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-6 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --devices 10 --start-time 2026-12-01T00:19:44.849Z --output ../repeated
iotbench query --config config.yaml --target timescaledb-6 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target influxdb-3 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:19:47.873Z --output ../repeated
iotbench insert --config config.yaml --target influxdb-3 --timeout 600s --runs 1 --workers 2 --num-inserts 2000 --start-time 2026-12-01T00:19:50.229Z --output ../repeated
iotbench insert --config config.yaml --target influxdb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --start-time 2026-12-01T00:19:53.744Z --output ../repeated
iotbench insert --config config.yaml --target influxdb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --restart-rows 50000 --start-time 2026-12-01T00:19:58.724Z --output ../repeated
iotbench insert --config config.yaml --target influxdb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 200000 --batch 1000 --devices 10 --start-time 2026-12-01T00:20:03.783Z --output ../repeated
iotbench query --config config.yaml --target influxdb-3 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target influxdb-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --devices 10 --start-time 2026-12-01T00:20:07.817Z --output ../repeated
iotbench query --config config.yaml --target influxdb-3 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:20:10.817Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-3 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:20:15.510Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --devices 100 --start-time 2026-12-01T00:20:20.042Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 2 --num-inserts 2000 --start-time 2026-12-01T00:20:25.655Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --start-time 2026-12-01T00:20:30.824Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --restart-rows 50000 --start-time 2026-12-01T00:20:46.934Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --num-inserts 200000 --batch 1000 --devices 10 --start-time 2026-12-01T00:21:02.623Z --output ../repeated
iotbench query --config config.yaml --target cassandra_sync-2 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --devices 10 --start-time 2026-12-01T00:21:13.771Z --output ../repeated
iotbench query --config config.yaml --target cassandra_sync-2 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-3 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 1000 --start-time 2026-12-01T00:21:19.878Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-3 --timeout 600s --runs 1 --workers 2 --num-inserts 100000 --batch 10000 --start-time 2026-12-01T00:21:25.876Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-3 --timeout 600s --runs 1 --workers 2 --num-inserts 2000 --start-time 2026-12-01T00:21:30.855Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-3 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --start-time 2026-12-01T00:21:35.828Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-3 --timeout 600s --runs 1 --workers 1 --num-inserts 50000 --steps 4 --batch 1000 --tick-ms 600 --restart-rows 50000 --start-time 2026-12-01T00:21:47.953Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-3 --timeout 600s --runs 1 --workers 1 --num-inserts 200000 --batch 1000 --devices 10 --start-time 2026-12-01T00:22:01.938Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch-3 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-3 --timeout 600s --runs 1 --workers 1 --num-inserts 20000 --batch 1000 --devices 10 --start-time 2026-12-01T00:22:08.971Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch-3 --timeout 600s --workers 1 --runs 5 --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --end 2016-01-02T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench query --config config.yaml --target influxdb1 --timeout 600s --workers 1 --count 1000 --types 1-host-1-hr --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 2 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 32 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench query --config config.yaml --target influxdb1 --timeout 600s --workers 1 --count 100 --types 1-host-1-hr,2-host-1-hr,4-host-1-hr,8-host-1-hr,16-host-1-hr,32-host-1-hr,1-host-12-hr,groupby --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --end 2016-01-02T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench query --config config.yaml --target timescaledb-3 --timeout 600s --workers 1 --count 1000 --types 1-host-1-hr --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 2 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 32 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench query --config config.yaml --target timescaledb-3 --timeout 600s --workers 1 --count 100 --types 1-host-1-hr,2-host-1-hr,4-host-1-hr,8-host-1-hr,16-host-1-hr,32-host-1-hr,1-host-12-hr,groupby --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --end 2016-01-02T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch-4 --timeout 600s --workers 1 --count 1000 --types 1-host-1-hr --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-4 --timeout 600s --runs 1 --workers 2 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-5 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-6 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 32 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch-4 --timeout 600s --workers 1 --count 100 --types 1-host-1-hr,2-host-1-hr,4-host-1-hr,8-host-1-hr,16-host-1-hr,32-host-1-hr,1-host-12-hr,groupby --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-5 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 32 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch-5 --timeout 600s --workers 1 --count 100 --types 1-host-1-hr,2-host-1-hr,4-host-1-hr,8-host-1-hr,16-host-1-hr,32-host-1-hr,1-host-12-hr,groupby --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --end 2016-01-02T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench query --config config.yaml --target cassandra_sync-2 --timeout 600s --workers 1 --count 1000 --types 1-host-1-hr --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 2 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 32 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench query --config config.yaml --target cassandra_sync-2 --timeout 600s --workers 1 --count 100 --types 1-host-1-hr,2-host-1-hr,4-host-1-hr,8-host-1-hr,16-host-1-hr,32-host-1-hr,1-host-12-hr,groupby --output ../repeated
iotbench insert --config config.yaml --target mongodb-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --end 2016-01-02T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench query --config config.yaml --target mongodb-4 --timeout 600s --workers 1 --count 1000 --types 1-host-1-hr --output ../repeated
iotbench insert --config config.yaml --target mongodb-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-4 --timeout 600s --runs 1 --workers 2 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 32 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench query --config config.yaml --target mongodb-4 --timeout 600s --workers 1 --count 100 --types 1-host-1-hr,2-host-1-hr,4-host-1-hr,8-host-1-hr,16-host-1-hr,32-host-1-hr,1-host-12-hr,groupby --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 1 --batch 10000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 1 --limit 60000 --batch 1000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 1 --limit 20000 --batch 100 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 2 --batch 10000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-7 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-7 --timeout 600s --runs 1 --workers 1 --limit 60000 --batch 1000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-7 --timeout 600s --runs 1 --workers 1 --limit 20000 --batch 100 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-7 --timeout 600s --runs 1 --workers 2 --batch 10000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-8 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-9 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-9 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-8 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-7 --timeout 600s --runs 1 --workers 2 --batch 10000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-7 --timeout 600s --runs 1 --workers 1 --limit 20000 --batch 100 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-7 --timeout 600s --runs 1 --workers 1 --limit 60000 --batch 1000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-7 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 2 --batch 10000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 1 --limit 20000 --batch 100 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 1 --limit 60000 --batch 1000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 1 --batch 10000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 1 --batch 10000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 1 --limit 60000 --batch 1000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 1 --limit 20000 --batch 100 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target postgresql --timeout 600s --runs 1 --workers 2 --batch 10000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-7 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-7 --timeout 600s --runs 1 --workers 1 --limit 60000 --batch 1000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-7 --timeout 600s --runs 1 --workers 1 --limit 20000 --batch 100 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-7 --timeout 600s --runs 1 --workers 2 --batch 10000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-8 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-9 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload cpu --start-time 2016-01-01T00:00:00Z --scale 1000 --interval 10s --end 2016-01-01T00:30:00Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 32 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench query --config config.yaml --target mongodb-4 --timeout 600s --workers 1 --count 100 --types 1-host-1-hr,2-host-1-hr,4-host-1-hr,8-host-1-hr,16-host-1-hr,32-host-1-hr,1-host-12-hr,groupby --output ../repeated
iotbench insert --config config.yaml --target mongodb-4 --timeout 600s --runs 1 --workers 2 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench query --config config.yaml --target mongodb-4 --timeout 600s --workers 1 --count 1000 --types 1-host-1-hr --output ../repeated
iotbench insert --config config.yaml --target mongodb-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --end 2016-01-02T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 32 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench query --config config.yaml --target cassandra_sync-2 --timeout 600s --workers 1 --count 100 --types 1-host-1-hr,2-host-1-hr,4-host-1-hr,8-host-1-hr,16-host-1-hr,32-host-1-hr,1-host-12-hr,groupby --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 2 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench query --config config.yaml --target cassandra_sync-2 --timeout 600s --workers 1 --count 1000 --types 1-host-1-hr --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --end 2016-01-02T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-5 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 32 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch-5 --timeout 600s --workers 1 --count 100 --types 1-host-1-hr,2-host-1-hr,4-host-1-hr,8-host-1-hr,16-host-1-hr,32-host-1-hr,1-host-12-hr,groupby --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 32 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch-4 --timeout 600s --workers 1 --count 100 --types 1-host-1-hr,2-host-1-hr,4-host-1-hr,8-host-1-hr,16-host-1-hr,32-host-1-hr,1-host-12-hr,groupby --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-6 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-5 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-4 --timeout 600s --runs 1 --workers 2 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch-4 --timeout 600s --workers 1 --count 1000 --types 1-host-1-hr --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --end 2016-01-02T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 32 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench query --config config.yaml --target timescaledb-3 --timeout 600s --workers 1 --count 100 --types 1-host-1-hr,2-host-1-hr,4-host-1-hr,8-host-1-hr,16-host-1-hr,32-host-1-hr,1-host-12-hr,groupby --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 2 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench query --config config.yaml --target timescaledb-3 --timeout 600s --workers 1 --count 1000 --types 1-host-1-hr --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --end 2016-01-02T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 32 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench query --config config.yaml --target influxdb1 --timeout 600s --workers 1 --count 100 --types 1-host-1-hr,2-host-1-hr,4-host-1-hr,8-host-1-hr,16-host-1-hr,32-host-1-hr,1-host-12-hr,groupby --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 2 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench query --config config.yaml --target influxdb1 --timeout 600s --workers 1 --count 1000 --types 1-host-1-hr --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --end 2016-01-02T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --end 2016-01-02T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench query --config config.yaml --target influxdb1 --timeout 600s --workers 1 --count 1000 --types 1-host-1-hr --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 2 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 32 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench query --config config.yaml --target influxdb1 --timeout 600s --workers 1 --count 100 --types 1-host-1-hr,2-host-1-hr,4-host-1-hr,8-host-1-hr,16-host-1-hr,32-host-1-hr,1-host-12-hr,groupby --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --end 2016-01-02T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench query --config config.yaml --target timescaledb-3 --timeout 600s --workers 1 --count 1000 --types 1-host-1-hr --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 2 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 32 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench query --config config.yaml --target timescaledb-3 --timeout 600s --workers 1 --count 100 --types 1-host-1-hr,2-host-1-hr,4-host-1-hr,8-host-1-hr,16-host-1-hr,32-host-1-hr,1-host-12-hr,groupby --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --end 2016-01-02T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch-4 --timeout 600s --workers 1 --count 1000 --types 1-host-1-hr --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-4 --timeout 600s --runs 1 --workers 2 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-5 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-6 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 32 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch-4 --timeout 600s --workers 1 --count 100 --types 1-host-1-hr,2-host-1-hr,4-host-1-hr,8-host-1-hr,16-host-1-hr,32-host-1-hr,1-host-12-hr,groupby --output ../repeated
iotbench insert --config config.yaml --target elasticsearch-5 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 32 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench query --config config.yaml --target elasticsearch-5 --timeout 600s --workers 1 --count 100 --types 1-host-1-hr,2-host-1-hr,4-host-1-hr,8-host-1-hr,16-host-1-hr,32-host-1-hr,1-host-12-hr,groupby --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --end 2016-01-02T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench query --config config.yaml --target cassandra_sync-2 --timeout 600s --workers 1 --count 1000 --types 1-host-1-hr --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 2 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target cassandra_sync-2 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 32 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench query --config config.yaml --target cassandra_sync-2 --timeout 600s --workers 1 --count 100 --types 1-host-1-hr,2-host-1-hr,4-host-1-hr,8-host-1-hr,16-host-1-hr,32-host-1-hr,1-host-12-hr,groupby --output ../repeated
iotbench insert --config config.yaml --target mongodb-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --end 2016-01-02T00:00:00Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --output ../repeated
iotbench query --config config.yaml --target mongodb-4 --timeout 600s --workers 1 --count 1000 --types 1-host-1-hr --output ../repeated
iotbench insert --config config.yaml --target mongodb-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-4 --timeout 600s --runs 1 --workers 2 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 10 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench insert --config config.yaml --target mongodb-4 --timeout 600s --runs 1 --workers 1 --batch 5000 --workload devops --start-time 2016-01-01T00:00:00Z --scale 32 --interval 60s --end 2016-01-02T01:00:00Z --output ../repeated
iotbench query --config config.yaml --target mongodb-4 --timeout 600s --workers 1 --count 100 --types 1-host-1-hr,2-host-1-hr,4-host-1-hr,8-host-1-hr,16-host-1-hr,32-host-1-hr,1-host-12-hr,groupby --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 2 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --symbols 10 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 2 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --resources --workers 1 --import --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --resources --workers 2 --import --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --symbols 10 --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded-2 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded-2 --timeout 600s --runs 1 --resources --workers 1 --import --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded-2 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --symbols 10 --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded-2 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --symbols 10 --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded-2 --timeout 600s --runs 1 --resources --workers 1 --import --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded-2 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --symbols 10 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --resources --workers 2 --import --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --resources --workers 1 --import --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 2 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --symbols 10 --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 2 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 2 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target influxdb1 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --symbols 10 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 2 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --resources --workers 1 --import --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --resources --workers 2 --import --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --symbols 10 --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded-2 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded-2 --timeout 600s --runs 1 --resources --workers 1 --import --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded-2 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --symbols 10 --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded-2 --timeout 600s --runs 1 --resources --workers 1 --import --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded-2 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --resources --workers 1 --import --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 2 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 2 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --resources --workers 1 --import --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded-2 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded-2 --timeout 600s --runs 1 --resources --workers 1 --import --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded-2 --timeout 600s --runs 1 --resources --workers 1 --import --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target clickhouse_embedded-2 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --resources --workers 1 --import --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 2 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
iotbench insert --config config.yaml --target timescaledb-3 --timeout 600s --runs 1 --workers 1 --batch 10000 --workload ohlcv --start-time 2000-01-01T00:00:00Z --years 1 --output ../repeated
