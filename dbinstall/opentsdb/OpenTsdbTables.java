// Creates OpenTSDB's tables in HBase where they are missing, as its create_table.sh does with the
// HBase shell.

import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.util.Bytes;

public class OpenTsdbTables {
    private static void create(Admin admin, String name, String... families) throws Exception {
        TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(TableName.valueOf(name));
        for (String family : families) {
            table.setColumnFamily(
                ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes(family))
                    .setMaxVersions(1)
                    .setBloomFilterType(BloomType.ROW)
                    .build());
        }
        if (!admin.tableExists(TableName.valueOf(name))) {
            admin.createTable(table.build());
        }
    }

    public static void main(String[] arguments) throws Exception {
        try (Connection connection = ConnectionFactory.createConnection(HBaseConfiguration.create());
                Admin admin = connection.getAdmin()) {
            create(admin, "tsdb", "t");
            create(admin, "tsdb-uid", "id", "name");
            create(admin, "tsdb-tree", "t");
            create(admin, "tsdb-meta", "name");
        }
    }
}
