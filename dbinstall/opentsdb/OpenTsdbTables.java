// Makes the tables of OpenTSDB in HBase, unless they are there, as its own create_table.sh does for
// the HBase shell.

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
    private static void make(Admin admin, String name, String... families) throws Exception {
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
            make(admin, "tsdb", "t");
            make(admin, "tsdb-uid", "id", "name");
            make(admin, "tsdb-tree", "t");
            make(admin, "tsdb-meta", "name");
        }
    }
}
