"""Apache IoTDB's table model, through its session protocol."""
